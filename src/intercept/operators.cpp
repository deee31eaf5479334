// Handlers of the operators that read node tensors by an edge index; and the registration, once per
// process, of all handlers on the interception key. They act only in a thread whose forward is
// intercepted.
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <string>

#include "base/error.h"
#include "intercept/active.h"
#include "intercept/boxed.h"
#include "intercept/handlers.h"
#include "intercept/interception.h"
#include "intercept/op_adapters.h"
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

// What an index tensor of role `operand` counts after it was itself indexed along `dimension` by
// one of role `index`.
IndexRole role_of_selection(IndexRole operand, IndexRole index, std::int64_t dimension)
{
  // Rows of [2, E] in another order: from now on either may hold senders.
  if (operand == IndexRole::both && dimension == 0) return IndexRole::senders;
  if (!counts_systems(operand)) return operand;
  const bool by_edge = index == IndexRole::senders || index == IndexRole::receivers;
  return by_edge && operand == IndexRole::systems ? IndexRole::edge_systems
                                                  : IndexRole::selected_systems;
}

// Extends the gathered operand when the index may count halo rows and the operand holds node rows.
void extend_if_sender(const OperatorHandle &op, Stack *stack, std::size_t operand_position,
                      std::int64_t dimension, IndexRole role)
{
  Interception &interception = *active_interception();
  if (interception.options().storage == RowStorage::local) return;
  if (role == IndexRole::derived) refuse_derived_index(op);
  if (!may_count_halo_rows(role)) return;
  const at::Tensor operand = tensor_argument(op, stack, operand_position);
  if (!interception.is_node_tensor(operand, dimension))
    throw Error(
        {"a tensor is indexed by the senders of edges but does not have one row per atom of the "
         "rank",
         "dimension " + std::to_string(dimension) + " of size " +
             (dimension < operand.dim() ? std::to_string(operand.size(dimension)) : "0"),
         toString(op.operator_name()),
         "Use `halo wide`, which needs no exchange inside the model"});
  const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
  argument(op, stack, operand_position) = interception.extend(operand, dimension);
}

// x[..., index, ...]: any number of index tensors, each on a dimension of its own.
void on_index(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const at::Tensor operand = tensor_argument(op, stack, 0);
  const c10::List<c10::IValue> indices = argument(op, stack, 1).toList();
  IndexRole selection = interception->role_of(operand);
  refuse_pairs_of_rows(*interception, op, indices);
  std::int64_t dimension = 0;    // of the operand; a mask stands for as many as it has
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const c10::IValue entry = indices.get(k);
    std::int64_t width = 1;
    if (entry.isTensor() && entry.toTensor().defined()) {
      const at::Tensor index = entry.toTensor();
      if (index.scalar_type() == at::kBool) width = index.dim();
      const IndexRole role = interception->role_of(index);
      extend_if_sender(op, stack, 0, dimension, role);
      selection = role_of_selection(selection, role, dimension);
    }
    dimension += width;
  }
  call_below(op, stack);
  // edge_index[..., mask]: still an edge index.
  follow_result(*interception, stack, operand, selection);
}

// index_select(x, dim, index), gather(x, dim, index, ...).
void on_gather_along(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const at::Tensor operand = tensor_argument(op, stack, 0);
  const std::int64_t dimension = wrapped(argument(op, stack, 1).toInt(), operand);
  const IndexRole index_role = interception->role_of(tensor_argument(op, stack, 2));
  const IndexRole role = role_of_selection(interception->role_of(operand), index_role, dimension);
  extend_if_sender(op, stack, 0, dimension, index_role);
  call_below(op, stack);
  follow_result(*interception, stack, operand, role);
}

// take(x, index): of a tensor with one dimension a gather, else an index of elements.
void on_take(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const at::Tensor operand = tensor_argument(op, stack, 0);
  const IndexRole role = interception->role_of(tensor_argument(op, stack, 1));
  if (may_count_halo_rows(role) && operand.dim() != 1) refuse_derived_index(op);
  extend_if_sender(op, stack, 0, 0, role);
  call_below(op, stack);
  follow_result(*interception, stack, operand,
                role_of_selection(interception->role_of(operand), role, 0));
}

// embedding(weight, indices, ...): a gather of weight's rows.
void on_embedding(const OperatorHandle &op, Stack *stack)
{
  if (Interception *interception = active_interception())
    extend_if_sender(op, stack, 0, 0, interception->role_of(tensor_argument(op, stack, 1)));
  call_below(op, stack);
}

struct Registrations {
  torch::Library fallback{torch::Library::IMPL, "_", kInterceptionKey, __FILE__, __LINE__};
  torch::Library aten{torch::Library::IMPL, "aten", kInterceptionKey, __FILE__, __LINE__};

  Registrations()
  {
    fallback.fallback(torch::CppFunction::makeFallthrough());
    aten.impl("index.Tensor", boxed<&on_index>());
    aten.impl("_unsafe_index.Tensor", boxed<&on_index>());
    aten.impl("index_select", boxed<&on_gather_along>());
    aten.impl("gather", boxed<&on_gather_along>());
    aten.impl("take", boxed<&on_take>());
    aten.impl("embedding", boxed<&on_embedding>());
    register_scatters(aten);
    register_index_arithmetic(aten);
    register_reductions(aten);
    guard_operators(index_operators());
  }
};

}    // namespace

void install_operator_handlers() { static const Registrations registrations; }

}    // namespace mlip_dd
