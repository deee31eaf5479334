// Handlers of the operators that add rows by an edge index or by the systems of rows.
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <string>

#include "base/error.h"
#include "intercept/active.h"
#include "intercept/handlers.h"
#include "intercept/interception.h"
#include "intercept/system_reductions.h"

namespace mlip_dd {

namespace {

[[noreturn]] void refuse_sender_scatter(const OperatorHandle &op, const std::string &what)
{
  throw Error(
      {"the model writes values of edges to their senders, which other ranks may own, in a "
       "way that cannot be split over ranks",
       what, toString(op.operator_name()),
       "Export a model that adds into receivers, or that only sums into senders"});
}

// Adds rows into senders: into owned and halo rows here, then halo rows into their owners.
void run_sender_sum(Interception &interception, const OperatorHandle &op, Stack *stack,
                    std::int64_t dimension)
{
  const HaloPlan &plan = interception.plan();
  const at::Tensor accumulator = tensor_argument(op, stack, 0);
  if (interception.options().storage == RowStorage::local)
    refuse_sender_scatter(op, "a wide halo, in which the last layer's senders lack edges");
  if (!interception.is_node_tensor(accumulator, dimension))
    refuse_sender_scatter(op, "a result without one row per atom of this rank");
  const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
  auto shape = accumulator.sizes().vec();
  shape[static_cast<std::size_t>(dimension)] = plan.n_rows();
  argument(op, stack, 0) = at::zeros(shape, accumulator.options());
  op.callBoxed(stack);
  at::Tensor sums = interception.fold(result_of(stack).toTensor(), dimension);
  if (interception.options().storage == RowStorage::padded) {
    // Halo rows' own values go no further.
    shape[static_cast<std::size_t>(dimension)] = plan.n_halo;
    sums = at::cat({sums, at::zeros(shape, sums.options())}, dimension);
  }
  result_of(stack) = is_in_place(op) ? accumulator.add_(sums) : accumulator.add(sums);
}

enum class Target { here, system, senders };

// Where rows added by an index of this role go.
Target target_of(const OperatorHandle &op, IndexRole role)
{
  if (counts_systems(role)) return Target::system;
  if (role == IndexRole::derived) refuse_derived_index(op);
  return may_count_halo_rows(role) ? Target::senders : Target::here;
}

// The sum along a dimension that the operator's own arguments give: argument 1, index 2, source 3.
void run_sum_along(Interception &interception, const OperatorHandle &op, Stack *stack,
                   IndexRole role, Target target)
{
  const std::int64_t dimension =
      wrapped(argument(op, stack, 1).toInt(), tensor_argument(op, stack, 0));
  if (target == Target::system)
    run_system_sum(interception, op, stack, role, dimension, 2, 3);
  else
    run_sender_sum(interception, op, stack, dimension);
}

// scatter_add(x, dim, index, source), index_add(x, dim, index, source, alpha).
void on_add_along(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const IndexRole role = interception->role_of(tensor_argument(op, stack, 2));
  const Target target = target_of(op, role);
  if (target == Target::here) return call_below(op, stack);
  run_sum_along(*interception, op, stack, role, target);
}

// scatter_reduce(x, dim, index, source, reduce, include_self), index_reduce of the same form.
void on_reduce_along(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const IndexRole role = interception->role_of(tensor_argument(op, stack, 2));
  const Target target = target_of(op, role);
  if (target == Target::here) return call_below(op, stack);
  const std::string reduce(argument(op, stack, 4).toStringView());
  const bool include_self = argument(op, stack, 5).toBool();
  if (target == Target::senders && (reduce != "sum" || !include_self))
    refuse_sender_scatter(op, reduce != "sum" ? "reduction \"" + reduce + "\"" : "without self");
  if (reduce != "sum") refuse_system_reduction(op, "reduction \"" + reduce + "\"");
  if (!include_self) {
    const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
    at::Tensor &accumulator = tensor_argument(op, stack, 0);
    if (is_in_place(op))
      accumulator.zero_();
    else
      accumulator = at::zeros_like(accumulator);
  }
  run_sum_along(*interception, op, stack, role, target);
}

void refuse_replacement(const OperatorHandle &op, Target target)
{
  constexpr const char *kWhat = "rows that replace each other";
  if (target == Target::system) refuse_system_reduction(op, kWhat);
  if (target == Target::senders) refuse_sender_scatter(op, kWhat);
}

// scatter(x, dim, index, source), index_copy(x, dim, index, source): rows replace rows.
void on_write_along(const OperatorHandle &op, Stack *stack)
{
  if (Interception *interception = active_interception())
    refuse_replacement(op, target_of(op, interception->role_of(tensor_argument(op, stack, 2))));
  call_below(op, stack);
}

// index_put(x, indices, values, accumulate).
void on_index_put(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const c10::List<c10::IValue> indices = argument(op, stack, 1).toList();
  refuse_pairs_of_rows(*interception, op, indices);
  std::int64_t dimension = 0;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const c10::IValue entry = indices.get(k);
    std::int64_t width = 1;
    if (entry.isTensor() && entry.toTensor().defined()) {
      const at::Tensor index = entry.toTensor();
      if (index.scalar_type() == at::kBool) width = index.dim();
      const IndexRole role = interception->role_of(index);
      const Target target = target_of(op, role);
      if (target != Target::here && !argument(op, stack, 3).toBool())
        refuse_replacement(op, target);
      if (target == Target::system) {
        if (indices.size() > 1) refuse_system_reduction(op, "several indices");
        return run_system_sum(*interception, op, stack, role, 0, 1, 2);
      }
      if (target == Target::senders) return run_sender_sum(*interception, op, stack, dimension);
    }
    dimension += width;
  }
  call_below(op, stack);
}

// bincount(index, weights, ...).
void on_bincount(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const IndexRole role = interception->role_of(tensor_argument(op, stack, 0));
  const Target target = target_of(op, role);
  if (target == Target::system) return run_system_count(*interception, op, stack, role);
  if (target == Target::senders) refuse_sender_scatter(op, "a count");
  call_below(op, stack);
}

// segment_reduce(data, reduce, *, lengths, indices, offsets, axis, ...): rows that follow each
// other.
void on_segment_reduce(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const std::string reduce(argument(op, stack, 1).toStringView());
  const at::Tensor data = tensor_argument(op, stack, 0);
  const std::int64_t axis = argument(op, stack, 5).toInt();
  const c10::IValue &lengths = argument(op, stack, 2), &offsets = argument(op, stack, 4);
  const bool one_segment = (lengths.isTensor() && lengths.toTensor().size(-1) == 1) ||
                           (offsets.isTensor() && offsets.toTensor().size(-1) == 2);
  // One segment for all atoms is the system; for one atom alone it may be its edges.
  if (one_segment && interception->options().batch.defined() && interception->plan().n_owned != 1)
    refuse_system_reduction(op, "one segment for all rows along dimension " + std::to_string(axis) +
                                    " of " + std::to_string(data.size(axis)));
  call_below(op, stack);
}

// sparse_coo_tensor(indices, ...): a matrix between atoms.
void on_sparse(const OperatorHandle &op, Stack *stack)
{
  if (Interception *interception = active_interception())
    for (const c10::IValue &value : torch::jit::last(*stack, op.schema().arguments().size()))
      if (value.isTensor() && value.toTensor().defined() &&
          interception->role_of(value.toTensor()) != IndexRole::unknown)
        throw Error({"the model makes a sparse matrix of the edges, whose columns other ranks own",
                     "", toString(op.operator_name()),
                     "Use `halo wide`, or export a model that gathers and adds rows"});
  call_below(op, stack);
}

}    // namespace

void register_scatters(torch::Library &aten)
{
  for (const char *name : {"scatter_add", "scatter_add_", "index_add", "index_add_"})
    aten.impl(name, boxed<&on_add_along>());
  for (const char *name :
       {"scatter_reduce.two", "scatter_reduce_.two", "index_reduce", "index_reduce_"})
    aten.impl(name, boxed<&on_reduce_along>());
  for (const char *name :
       {"scatter.src", "scatter_.src", "scatter.reduce", "scatter_.reduce", "scatter.value",
        "scatter_.value", "index_copy", "index_copy_", "index_fill.int_Scalar",
        "index_fill_.int_Scalar", "index_fill.int_Tensor", "index_fill_.int_Tensor"})
    aten.impl(name, boxed<&on_write_along>());
  for (const char *name : {"index_put", "index_put_", "_unsafe_index_put"})
    aten.impl(name, boxed<&on_index_put>());
  aten.impl("bincount", boxed<&on_bincount>());
  aten.impl("segment_reduce", boxed<&on_segment_reduce>());
  for (const char *name : {"_sparse_coo_tensor_with_dims_and_tensors", "_sparse_coo_tensor_unsafe",
                           "sparse_coo_tensor.indices", "sparse_coo_tensor.indices_size"})
    aten.impl(name, boxed<&on_sparse>());
}

}    // namespace mlip_dd
