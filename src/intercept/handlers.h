// The handlers' registration by kind of operator, and refusals that they share.
#pragma once

#include <torch/library.h>

#include "intercept/boxed.h"

namespace mlip_dd {

void register_scatters(torch::Library &aten);
void register_index_arithmetic(torch::Library &aten);
void register_reductions(torch::Library &aten);

// For an index that was computed from an edge index, so that the rows it counts are not known.
[[noreturn]] void refuse_derived_index(const OperatorHandle &op);

template <void (*handler)(const OperatorHandle &, Stack *)>
torch::CppFunction boxed()
{
  return torch::CppFunction::makeFromBoxedFunction<handler>();
}

}    // namespace mlip_dd
