// From the sums of lanes to those of a Coulomb energy.
#pragma once

#include <span>
#include <vector>

#include "potentials/coulomb/sums.h"
#include "potentials/pair/lanes.h"

namespace mlip_dd {

// `lanes` [n_owned] of ScreenedLanes, `charges` of all rows, `constant` in eV Angstrom / e^2. Half
// of each pair's virial belongs to the atom.
void add_screened_sums(const std::vector<LaneSums> &lanes, std::span<const double> charges,
                       double constant, const CoulombSums &sums);

}    // namespace mlip_dd
