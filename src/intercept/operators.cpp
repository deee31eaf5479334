// Handlers of the operators that read or write node tensors by an edge index, registered once per
// process on the interception key. They act only in a thread whose forward is intercepted.
#include <ATen/ops/zeros_like.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <optional>
#include <string>

#include "base/error.h"
#include "intercept/active.h"
#include "intercept/boxed.h"
#include "intercept/interception.h"
#include "intercept/system_reductions.h"

namespace mlip_dd {

namespace {

void follow_result(Interception &interception, Stack *stack, const at::Tensor &source,
                   IndexRole role)
{
  if (role == IndexRole::unknown) return;
  c10::IValue &result = result_of(stack);
  const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
  result = interception.follow(result.toTensor(), source, role);
}

// What an index tensor of role `operand` counts after it was itself indexed by one of role `index`.
IndexRole role_of_selection(IndexRole operand, IndexRole index)
{
  if (!counts_systems(operand)) return operand;
  const bool by_edge = index == IndexRole::senders || index == IndexRole::receivers;
  return by_edge && operand == IndexRole::systems ? IndexRole::edge_systems
                                                  : IndexRole::selected_systems;
}

// Extends the gathered operand when the index counts senders and the operand holds node rows.
void extend_if_sender(const OperatorHandle &op, Stack *stack, std::size_t operand_position,
                      std::int64_t dimension, const at::Tensor &index)
{
  Interception &interception = *active_interception();
  const at::Tensor operand = tensor_argument(op, stack, operand_position);
  if (interception.options().storage != RowStorage::owned) return;
  if (interception.role_of(index) != IndexRole::senders) return;
  if (!interception.is_node_tensor(operand, dimension))
    throw Error(
        {"a tensor is indexed by the senders of edges but does not have one row per owned atom",
         "dimension " + std::to_string(dimension) + " of size " +
             (dimension < operand.dim() ? std::to_string(operand.size(dimension)) : "0"),
         toString(op.operator_name()),
         "Use `halo wide`, which needs no exchange inside the model"});
  const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
  argument(op, stack, operand_position) = interception.extend(operand, dimension);
}

// x[..., index, ...]: one index tensor, any number of full slices before it.
void on_index(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const at::Tensor operand = tensor_argument(op, stack, 0);
  const c10::List<c10::IValue> indices = argument(op, stack, 1).toList();
  std::optional<std::int64_t> dimension;
  at::Tensor sender_index;
  IndexRole index_role = IndexRole::unknown;
  std::size_t given = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const c10::IValue entry = indices.get(d);
    if (!entry.isTensor() || !entry.toTensor().defined()) continue;
    ++given;
    index_role = interception->role_of(entry.toTensor());
    if (index_role == IndexRole::senders) {
      dimension = static_cast<std::int64_t>(d);
      sender_index = entry.toTensor();
    }
  }
  const IndexRole operand_role = interception->role_of(operand);
  if (dimension) {
    if (given > 1)
      throw Error({"a tensor is indexed by senders together with another index", "",
                   toString(op.operator_name()),
                   "Use `halo wide`, which needs no exchange inside the model"});
    extend_if_sender(op, stack, 0, *dimension, sender_index);
  }
  call_below(op, stack);
  // edge_index[..., mask]: still an edge index.
  follow_result(*interception, stack, operand, role_of_selection(operand_role, index_role));
}

// index_select(x, dim, index), gather(x, dim, index, ...).
void on_gather_along(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const at::Tensor operand = tensor_argument(op, stack, 0);
  const std::int64_t dimension = wrapped(argument(op, stack, 1).toInt(), operand);
  const at::Tensor index = tensor_argument(op, stack, 2);
  const IndexRole role =
      role_of_selection(interception->role_of(operand), interception->role_of(index));
  extend_if_sender(op, stack, 0, dimension, index);
  call_below(op, stack);
  follow_result(*interception, stack, operand, role);
}

// embedding(weight, indices, ...): a gather of weight's rows.
void on_embedding(const OperatorHandle &op, Stack *stack)
{
  if (active_interception()) extend_if_sender(op, stack, 0, 0, tensor_argument(op, stack, 1));
  call_below(op, stack);
}

// Copies and casts of an edge index are edge indices.
void on_copy(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const at::Tensor source = tensor_argument(op, stack, 0);
  call_below(op, stack);
  follow_result(*interception, stack, source, interception->role_of(source));
}

[[noreturn]] void refuse_scatter(const OperatorHandle &op)
{
  throw Error(
      {"the model adds values of edges into their senders, which may be owned by other ranks", "",
       toString(op.operator_name()),
       "Use `halo wide`, which needs no exchange inside the model, or export a model that adds "
       "into "
       "receivers"});
}

// Refuses what cannot be added here; true where the rows go to the system.
bool adds_into_system(Interception &interception, const OperatorHandle &op, IndexRole role)
{
  if (role == IndexRole::senders && interception.options().storage == RowStorage::owned)
    refuse_scatter(op);
  return counts_systems(role);
}

// scatter_add(x, dim, index, source), index_add(x, dim, index, source, alpha).
void on_add_along(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const IndexRole role = interception->role_of(tensor_argument(op, stack, 2));
  if (!adds_into_system(*interception, op, role)) return call_below(op, stack);
  const std::int64_t dimension =
      wrapped(argument(op, stack, 1).toInt(), tensor_argument(op, stack, 0));
  run_system_sum(*interception, op, stack, role, dimension, 2, 3);
}

// scatter_reduce(x, dim, index, source, reduce, include_self), index_reduce of the same form.
void on_reduce_along(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const IndexRole role = interception->role_of(tensor_argument(op, stack, 2));
  if (!adds_into_system(*interception, op, role)) return call_below(op, stack);
  const std::string reduce(argument(op, stack, 4).toStringView());
  if (reduce != "sum") refuse_system_reduction(op, "reduction \"" + reduce + "\"");
  const at::Tensor accumulator = tensor_argument(op, stack, 0);
  if (!argument(op, stack, 5).toBool()) {
    const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
    if (is_in_place(op))
      accumulator.zero_();
    else
      argument(op, stack, 0) = at::zeros_like(accumulator);
  }
  run_system_sum(*interception, op, stack, role,
                 wrapped(argument(op, stack, 1).toInt(), accumulator), 2, 3);
}

// scatter(x, dim, index, source), index_copy(x, dim, index, source): rows replace rows.
void on_write_along(const OperatorHandle &op, Stack *stack)
{
  if (Interception *interception = active_interception())
    if (adds_into_system(*interception, op, interception->role_of(tensor_argument(op, stack, 2))))
      refuse_system_reduction(op, "rows that replace each other");
  call_below(op, stack);
}

// index_put(x, indices, values, accumulate).
void on_index_put(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const c10::List<c10::IValue> indices = argument(op, stack, 1).toList();
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const c10::IValue entry = indices.get(d);
    if (!entry.isTensor() || !entry.toTensor().defined()) continue;
    const IndexRole role = interception->role_of(entry.toTensor());
    if (!adds_into_system(*interception, op, role)) continue;
    if (indices.size() > 1) refuse_system_reduction(op, "several indices");
    if (!argument(op, stack, 3).toBool())
      refuse_system_reduction(op, "rows that replace each other");
    return run_system_sum(*interception, op, stack, role, 0, 1, 2);
  }
  call_below(op, stack);
}

// bincount(index, weights, ...).
void on_bincount(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  const IndexRole role =
      interception ? interception->role_of(tensor_argument(op, stack, 0)) : IndexRole::unknown;
  if (counts_systems(role)) return run_system_count(*interception, op, stack, role);
  call_below(op, stack);
}

using Handler = torch::CppFunction;

template <void (*handler)(const OperatorHandle &, Stack *)>
Handler boxed()
{
  return Handler::makeFromBoxedFunction<handler>();
}

}    // namespace

namespace {

struct Registrations {
  torch::Library fallback{torch::Library::IMPL, "_", kInterceptionKey, __FILE__, __LINE__};
  torch::Library aten{torch::Library::IMPL, "aten", kInterceptionKey, __FILE__, __LINE__};

  Registrations()
  {
    fallback.fallback(Handler::makeFallthrough());
    aten.impl("index.Tensor", boxed<&on_index>());
    aten.impl("index_select", boxed<&on_gather_along>());
    aten.impl("gather", boxed<&on_gather_along>());
    aten.impl("embedding", boxed<&on_embedding>());
    aten.impl("clone", boxed<&on_copy>());
    aten.impl("_to_copy", boxed<&on_copy>());
    for (const char *name : {"scatter_add", "scatter_add_", "index_add", "index_add_"})
      aten.impl(name, boxed<&on_add_along>());
    for (const char *name :
         {"scatter_reduce.two", "scatter_reduce_.two", "index_reduce", "index_reduce_"})
      aten.impl(name, boxed<&on_reduce_along>());
    for (const char *name : {"scatter.src", "scatter_.src", "index_copy", "index_copy_"})
      aten.impl(name, boxed<&on_write_along>());
    aten.impl("index_put", boxed<&on_index_put>());
    aten.impl("index_put_", boxed<&on_index_put>());
    aten.impl("bincount", boxed<&on_bincount>());
  }
};

}    // namespace

void install_operator_handlers() { static const Registrations registrations; }

}    // namespace mlip_dd
