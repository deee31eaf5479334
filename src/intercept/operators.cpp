// Handlers of the operators that read or write node tensors by an edge index, registered once per
// process on the interception key. They act only in a thread whose forward is intercepted.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <optional>
#include <string>

#include "base/error.h"
#include "intercept/active.h"
#include "intercept/interception.h"

namespace mlip_dd {

namespace {

using c10::OperatorHandle;
using torch::jit::Stack;

// Runs the operator itself, below the interception.
void call_below(const OperatorHandle &op, Stack *stack)
{
  const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
  op.callBoxed(stack);
}

at::Tensor &tensor_argument(const OperatorHandle &op, Stack *stack, std::size_t position)
{
  return torch::jit::peek(*stack, position, op.schema().arguments().size()).toTensor();
}

c10::IValue &argument(const OperatorHandle &op, Stack *stack, std::size_t position)
{
  return torch::jit::peek(*stack, position, op.schema().arguments().size());
}

std::int64_t wrapped(std::int64_t dimension, const at::Tensor &tensor)
{
  return dimension < 0 ? dimension + tensor.dim() : dimension;
}

void follow_result(Interception &interception, Stack *stack, const at::Tensor &source)
{
  c10::IValue &result = torch::jit::peek(*stack, 0, 1);
  const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
  result = interception.follow(result.toTensor(), source);
}

// Extends the gathered operand when the index counts senders and the operand holds node rows.
void extend_if_sender(const OperatorHandle &op, Stack *stack, std::size_t operand_position,
                      std::int64_t dimension, const at::Tensor &index)
{
  Interception &interception = *active_interception();
  const at::Tensor operand = tensor_argument(op, stack, operand_position);
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
  std::size_t given = 0;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const c10::IValue entry = indices.get(d);
    if (!entry.isTensor() || !entry.toTensor().defined()) continue;
    ++given;
    if (interception->role_of(entry.toTensor()) == IndexRole::senders) {
      dimension = static_cast<std::int64_t>(d);
      sender_index = entry.toTensor();
    }
  }
  const bool operand_is_index = interception->role_of(operand) != IndexRole::unknown;
  if (dimension) {
    if (given > 1)
      throw Error({"a tensor is indexed by senders together with another index", "",
                   toString(op.operator_name()),
                   "Use `halo wide`, which needs no exchange inside the model"});
    extend_if_sender(op, stack, 0, *dimension, sender_index);
  }
  call_below(op, stack);
  // edge_index[..., mask]: still an edge index.
  if (operand_is_index) follow_result(*interception, stack, operand);
}

// index_select(x, dim, index), gather(x, dim, index, ...).
void on_gather_along(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception) return call_below(op, stack);
  const at::Tensor operand = tensor_argument(op, stack, 0);
  const std::int64_t dimension = wrapped(argument(op, stack, 1).toInt(), operand);
  const bool operand_is_index = interception->role_of(operand) != IndexRole::unknown;
  extend_if_sender(op, stack, 0, dimension, tensor_argument(op, stack, 2));
  call_below(op, stack);
  if (operand_is_index) follow_result(*interception, stack, operand);
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
  follow_result(*interception, stack, source);
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

// scatter_add(x, dim, index, ...), index_add(x, dim, index, ...), and their kin.
void on_scatter_along(const OperatorHandle &op, Stack *stack)
{
  if (Interception *interception = active_interception())
    if (interception->role_of(tensor_argument(op, stack, 2)) == IndexRole::senders)
      refuse_scatter(op);
  call_below(op, stack);
}

// index_put(x, indices, values, accumulate).
void on_index_put(const OperatorHandle &op, Stack *stack)
{
  if (Interception *interception = active_interception()) {
    const c10::List<c10::IValue> indices = argument(op, stack, 1).toList();
    for (std::size_t d = 0; d < indices.size(); ++d) {
      const c10::IValue entry = indices.get(d);
      if (entry.isTensor() && entry.toTensor().defined() &&
          interception->role_of(entry.toTensor()) == IndexRole::senders)
        refuse_scatter(op);
    }
  }
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
    for (const char *name : {"scatter_add", "scatter_add_", "scatter.src", "scatter_.src",
                             "scatter_reduce.two", "scatter_reduce_.two", "index_add", "index_add_",
                             "index_reduce", "index_reduce_", "index_copy", "index_copy_"})
      aten.impl(name, boxed<&on_scatter_along>());
    aten.impl("index_put", boxed<&on_index_put>());
    aten.impl("index_put_", boxed<&on_index_put>());
  }
};

}    // namespace

void install_operator_handlers() { static const Registrations registrations; }

}    // namespace mlip_dd
