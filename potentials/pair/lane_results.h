// From the sums of lanes to what a potential gives.
#pragma once

#include <vector>

#include "pipeline/potential.h"
#include "potentials/pair/lanes.h"

namespace mlip_dd {

// `sums` [n_owned]: half of each pair's energy and virial belongs to the atom.
void add_lane_sums(const std::vector<LaneSums> &sums, bool node_virial, PotentialOutput &output);

}    // namespace mlip_dd
