// The handlers' registration by kind of operator, and refusals that they share.
#pragma once

#include <torch/library.h>

#include "intercept/boxed.h"
#include "intercept/op_adapters.h"

namespace mlip_dd {

void register_scatters(torch::Library &aten);
void register_index_arithmetic(torch::Library &aten);
void register_reductions(torch::Library &aten);

// For an index that was computed from an edge index, so that the rows it counts are not known.
[[noreturn]] void refuse_derived_index(const OperatorHandle &op);

// Throws Error where a list of indices has those of edges on two dimensions, of which one may count
// halo rows: a matrix between atoms, of which a rank has a part only.
void refuse_pairs_of_rows(const Interception &interception, const OperatorHandle &op,
                          const c10::List<c10::IValue> &indices);

// What a spec says of an operator goes before what we make of it ourselves.
template <void (*handler)(const OperatorHandle &, Stack *)>
void adapted_or(const OperatorHandle &op, Stack *stack)
{
  if (!run_adapted(op, stack)) handler(op, stack);
}

template <void (*handler)(const OperatorHandle &, Stack *)>
torch::CppFunction boxed()
{
  return torch::CppFunction::makeFromBoxedFunction<&adapted_or<handler>>();
}

}    // namespace mlip_dd
