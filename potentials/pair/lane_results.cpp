#include "potentials/pair/lane_results.h"

namespace mlip_dd {

void add_lane_sums(const std::vector<LaneSums> &sums, bool node_virial, PotentialOutput &output)
{
  for (std::size_t row = 0; row < sums.size(); ++row) {
    const LaneSums &own = sums[row];
    output.node_energy[row] += 0.5 * own.energy;
    output.energy += 0.5 * own.energy;
    for (std::size_t a = 0; a < 3; ++a) output.forces[3 * row + a] += own.force[a];
    for (std::size_t k = 0; k < 9; ++k) {
      const double half = -0.5 * own.moment[kMomentPlace[k]];
      output.virial[k] += half;
      if (node_virial) output.node_virial[9 * row + k] += half;
    }
  }
}

}    // namespace mlip_dd
