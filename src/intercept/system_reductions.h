// Reductions of rows into the system's one row: summed over ranks, halo rows left out.
#pragma once

#include <cstdint>

#include "intercept/boxed.h"
#include "intercept/interception.h"

namespace mlip_dd {

// Whether an index says the system of rows or of edges.
bool counts_systems(IndexRole role);

// Runs an operator that adds rows of `source` (argument number) along `dimension` of its first
// argument by `index` (argument number; an element of the list where the argument is one), on
// behalf of all ranks. `role` is the index's. Collective. Throws Error for what cannot be split
// over ranks.
void run_system_sum(Interception &interception, const OperatorHandle &op, Stack *stack,
                    IndexRole role, std::int64_t dimension, std::size_t index, std::size_t source);

// bincount(batch): how many rows each system has, on all ranks. Collective.
void run_system_count(Interception &interception, const OperatorHandle &op, Stack *stack,
                      IndexRole role);

// Reductions by system that are no sums.
[[noreturn]] void refuse_system_reduction(const OperatorHandle &op, const std::string &what);

}    // namespace mlip_dd
