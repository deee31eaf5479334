#include "potentials/coulomb/screened_results.h"

namespace mlip_dd {

void add_screened_sums(const std::vector<LaneSums> &lanes, std::span<const double> charges,
                       double constant, const CoulombSums &sums)
{
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const double factor = constant * charges[i];
    sums.potential[i] += constant * lanes[i].extra;
    for (std::size_t a = 0; a < 3; ++a) sums.forces[3 * i + a] += factor * lanes[i].force[a];
    for (std::size_t k = 0; k < 9; ++k) {
      const double half = -0.5 * factor * lanes[i].moment[kMomentPlace[k]];
      (*sums.virial)[k] += half;
      if (!sums.node_virial.empty()) sums.node_virial[9 * i + k] += half;
    }
  }
}

}    // namespace mlip_dd
