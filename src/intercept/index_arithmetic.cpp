// What becomes of an index tensor that the model copies, reorders or computes with: it keeps its
// role, or becomes an index whose rows are not known and that may then not be used as one.
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <vector>

#include "base/error.h"
#include "intercept/active.h"
#include "intercept/handlers.h"
#include "intercept/interception.h"
#include "intercept/system_reductions.h"

namespace mlip_dd {

namespace {

// The role of a tensor made of several: of one kind, or of rows that are owned and rows that may be
// halo rows.
IndexRole joined(IndexRole a, IndexRole b)
{
  if (a == b && a != IndexRole::both) return a;
  const auto by_edge = [](IndexRole role) {
    return role == IndexRole::receivers || may_count_halo_rows(role);
  };
  if (by_edge(a) && by_edge(b)) return IndexRole::senders;
  return IndexRole::derived;
}

bool whole_numbers(const at::Tensor &tensor)
{
  return at::isIntegralType(tensor.scalar_type(), /*includeBool=*/false);
}

void mark(Interception &interception, c10::IValue &result, IndexRole role)
{
  if (role == IndexRole::unknown || !result.isTensor()) return;
  const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
  result = interception.mark(result.toTensor(), role);
}

// Copies and casts. Numbers made of an index are no index, until they are made whole again.
void on_copy(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const at::Tensor source = tensor_argument(op, stack, 0);
  const IndexRole role = interception->role_of(source);
  call_below(op, stack);
  if (role == IndexRole::unknown) return;
  const at::Tensor result = result_of(stack).toTensor();
  if (whole_numbers(source) && whole_numbers(result)) {
    const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
    result_of(stack) = interception->follow(result, source, role);
  } else if (result.scalar_type() != at::kBool) {
    mark(*interception, result_of(stack), IndexRole::derived);
  }
}

// Entries in another order, some of them, or several times: flip, roll, repeat, masked_select,
// sort.
void on_reorder(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  IndexRole role = interception->role_of(tensor_argument(op, stack, 0));
  call_below(op, stack);
  if (role == IndexRole::both) role = IndexRole::senders;
  if (counts_systems(role)) role = IndexRole::selected_systems;
  mark(*interception, torch::jit::peek(*stack, 0, op.schema().returns().size()), role);
}

// cat, stack.
void on_join(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  bool known = false, first = true;
  IndexRole role = IndexRole::unknown;
  for_tensors(op, stack, [&](const at::Tensor &tensor) {
    const IndexRole next = interception->role_of(tensor);
    known = known || next != IndexRole::unknown;
    role = first ? next : joined(role, next);
    first = false;
  });
  call_below(op, stack);
  if (!known) return;
  if (role == IndexRole::both) role = IndexRole::senders;
  if (counts_systems(role)) role = IndexRole::selected_systems;
  mark(*interception, result_of(stack), role);
}

// Arithmetic. What is computed from receivers alone counts owned rows, in whatever units.
void on_arithmetic(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  IndexRole role = IndexRole::unknown;
  for_tensors(op, stack, [&](const at::Tensor &tensor) {
    const IndexRole next = interception->role_of(tensor);
    if (next == IndexRole::unknown) return;
    const bool owned = next == IndexRole::receivers && role != IndexRole::derived;
    role = owned ? IndexRole::receivers : IndexRole::derived;
  });
  if (role == IndexRole::unknown) return call_below(op, stack);
  if (is_in_place(op) && interception->role_of(tensor_argument(op, stack, 0)) != IndexRole::unknown)
    throw Error({"the model changes an edge index, or another index of ours, in place", "",
                 toString(op.operator_name()), "Export a model that changes a copy of its own"});
  call_below(op, stack);
  const std::size_t results = op.schema().returns().size();
  for (std::size_t k = 0; k < results; ++k) {
    c10::IValue &value = torch::jit::peek(*stack, k, results);
    if (!value.isTensor() || value.toTensor().scalar_type() == at::kBool) continue;
    // What is written into a part of a tensor says nothing of its other parts.
    const bool kept = whole_numbers(value.toTensor()) && !is_in_place(op);
    mark(*interception, value, kept ? role : IndexRole::derived);
  }
}

// Comparisons: of senders with numbers of the model's own, such as a count of its rows, where those
// of other ranks are missing.
void on_comparison(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (interception && interception->options().storage != RowStorage::local) {
    bool senders = false, own = false;
    for_tensors(op, stack, [&](const at::Tensor &tensor) {
      const IndexRole role = interception->role_of(tensor);
      senders = senders || may_count_halo_rows(role);
      own = own || (role == IndexRole::unknown && tensor.numel() > 1);
    });
    if (senders && own)
      throw Error(
          {"the model compares the senders of edges with numbers of its own, which say "
           "nothing of rows of other ranks",
           "", toString(op.operator_name()),
           "Use `halo wide`, or export a model that indexes by edge_index itself"});
  }
  call_below(op, stack);
}

}    // namespace

void refuse_derived_index(const OperatorHandle &op)
{
  throw Error(
      {"rows are indexed by numbers computed from the senders of edges or from `batch`, so "
       "that it is not known whose rows they are",
       "", toString(op.operator_name()),
       "Use `halo wide`, or export a model that indexes by edge_index itself"});
}

void refuse_pairs_of_rows(const Interception &interception, const OperatorHandle &op,
                          const c10::List<c10::IValue> &indices)
{
  if (interception.options().storage == RowStorage::local) return;
  int by_edge = 0;
  bool halo = false;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const c10::IValue entry = indices.get(k);
    if (!entry.isTensor() || !entry.toTensor().defined()) continue;
    const IndexRole role = interception.role_of(entry.toTensor());
    halo = halo || may_count_halo_rows(role);
    by_edge += role == IndexRole::receivers || may_count_halo_rows(role);
  }
  if (halo && by_edge > 1)
    throw Error({"the model indexes a matrix between atoms by edges, whose columns other ranks own",
                 "", toString(op.operator_name()),
                 "Use `halo wide`, or export a model that gathers and adds rows"});
}

void register_index_arithmetic(torch::Library &aten)
{
  for (const char *name : {"clone", "_to_copy"}) aten.impl(name, boxed<&on_copy>());
  for (const char *name : {"flip", "roll", "repeat", "masked_select", "sort", "sort.stable"})
    aten.impl(name, boxed<&on_reorder>());
  for (const char *name : {"eq.Tensor", "ne.Tensor", "lt.Tensor", "le.Tensor", "gt.Tensor",
                           "ge.Tensor", "isin.Tensor_Tensor"})
    aten.impl(name, boxed<&on_comparison>());
  for (const char *name : {"cat", "stack"}) aten.impl(name, boxed<&on_join>());
  for (const char *name : {"add.Tensor",
                           "add_.Tensor",
                           "add.Scalar",
                           "add_.Scalar",
                           "sub.Tensor",
                           "sub_.Tensor",
                           "sub.Scalar",
                           "sub_.Scalar",
                           "rsub.Scalar",
                           "rsub.Tensor",
                           "mul.Tensor",
                           "mul_.Tensor",
                           "mul.Scalar",
                           "mul_.Scalar",
                           "div.Tensor_mode",
                           "div.Scalar_mode",
                           "floor_divide",
                           "floor_divide_.Tensor",
                           "floor_divide.Scalar",
                           "remainder.Tensor",
                           "remainder_.Tensor",
                           "remainder.Scalar",
                           "remainder_.Scalar",
                           "fmod.Scalar",
                           "fmod.Tensor",
                           "neg",
                           "abs",
                           "minimum",
                           "maximum",
                           "clamp",
                           "clamp_",
                           "clamp.Tensor",
                           "clamp_min",
                           "clamp_max",
                           "where.self",
                           "where.ScalarSelf",
                           "where.ScalarOther",
                           "masked_fill.Scalar",
                           "masked_fill_.Scalar",
                           "masked_fill.Tensor",
                           "masked_fill_.Tensor",
                           "bitwise_and.Tensor",
                           "bitwise_or.Tensor",
                           "bitwise_xor.Tensor",
                           "copy_",
                           "fill_.Scalar",
                           "fill_.Tensor",
                           "zero_",
                           "unique_dim",
                           "_unique2",
                           "unique_consecutive"})
    aten.impl(name, boxed<&on_arithmetic>());
}

}    // namespace mlip_dd
