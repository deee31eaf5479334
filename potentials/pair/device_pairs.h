// The rows of a pair potential as tensors of any device.
#pragma once

#include "graph/device_graph.h"
#include "potentials/pair/pair_rows.h"

namespace mlip_dd {

// Addresses on the device of `pairs`, valid until they are laid out again.
PairView view_of(const DevicePairs &pairs);

// Copies of `rows` on `device`: all of them at a reneighbouring, and the positions in each step.
void upload_pairs(const PairRows &rows, const at::Device &device, DevicePairs &pairs);
void upload_positions(const PairRows &rows, DevicePairs &pairs);

}    // namespace mlip_dd
