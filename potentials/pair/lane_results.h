// From the sums of lanes to what a potential gives.
#pragma once

#include <ATen/core/Tensor.h>

#include "pipeline/potential.h"

namespace mlip_dd {

// `sums` of the owned rows, as run_lanes() gives them: half of each pair's energy and virial
// belongs to the atom. Adds to the tensors of `output` where the sums are, or to its arrays, for
// which they are brought to the host.
void add_lane_sums(const at::Tensor &sums, PotentialOutput &output);

// [n] LaneSums::extra, contiguous.
at::Tensor extra_of(const at::Tensor &sums);

}    // namespace mlip_dd
