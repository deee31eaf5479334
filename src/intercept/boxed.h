// Reading and changing an operator's arguments on the interpreter's stack; for operator handlers.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <string>

namespace mlip_dd {

using c10::OperatorHandle;
using torch::jit::Stack;

// Runs the operator itself, below the interception.
void call_below(const OperatorHandle &op, Stack *stack);

inline c10::IValue &argument(const OperatorHandle &op, Stack *stack, std::size_t position)
{
  return torch::jit::peek(*stack, position, op.schema().arguments().size());
}

inline at::Tensor &tensor_argument(const OperatorHandle &op, Stack *stack, std::size_t position)
{
  return argument(op, stack, position).toTensor();
}

// The operator's one result, after it has run.
inline c10::IValue &result_of(Stack *stack) { return torch::jit::peek(*stack, 0, 1); }

inline std::int64_t wrapped(std::int64_t dimension, const at::Tensor &tensor)
{
  return dimension < 0 ? dimension + tensor.dim() : dimension;
}

// Visits the defined tensors among the operator's arguments, and in lists of tensors.
template <class Visit>
void for_tensors(const OperatorHandle &op, Stack *stack, Visit visit)
{
  for (const c10::IValue &value : torch::jit::last(*stack, op.schema().arguments().size())) {
    if (value.isTensor()) {
      if (value.toTensor().defined()) visit(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor &tensor : value.toTensorVector()) visit(tensor);
    }
  }
}

// True for operators that write into their first argument and return it.
bool is_in_place(const OperatorHandle &op);

}    // namespace mlip_dd
