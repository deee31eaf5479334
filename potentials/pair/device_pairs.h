// The rows of a pair potential on the device of the host program's arrays, and what its kernels sum
// there.
#pragma once

#include "graph/device_graph.h"
#include "pipeline/potential.h"
#include "potentials/pair/lanes.h"
#include "potentials/pair/pair_view.h"

namespace mlip_dd {

// Addresses on the device of `pairs`, valid until they are laid out again.
PairView view_of(const DevicePairs &pairs);

// LaneSums of `n` rows, [n, doubles in LaneSums], of the device in `options`; lane_sums(): where
// kernels write them.
at::Tensor empty_lane_sums(std::int64_t n, const at::TensorOptions &options);
LaneSums *lane_sums(const at::Tensor &sums);

// As the function of this name in lane_results.h, into the tensors of `output`.
void add_lane_sums(const at::Tensor &sums, PotentialOutput &output);

}    // namespace mlip_dd
