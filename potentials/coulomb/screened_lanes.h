// Real-space Coulomb sums of one atom for the lanes of a GPU.
#pragma once

#include "potentials/coulomb/screened_terms.h"
#include "potentials/pair/lanes.h"

namespace mlip_dd {

// extra: the potential at the atom; forces and moments are for a unit charge there. All without the
// Coulomb constant.
struct ScreenedLanes {
  PairView rows;                      // of one type
  const double *table = nullptr;      // of ScreenedTable
  double alpha_squared = 0.0;         // 1/Angstrom^2
  double cutoff_squared = 0.0;        // Angstrom^2
  const double *charges = nullptr;    // of all rows, e

  MLIP_DD_TERM LaneSums operator()(std::int64_t row, int lane) const
  {
    LaneSums sums;
    for_each_neighbour(rows, row, 0, lane, [&](const LanePair &pair) {
      if (pair.squared >= cutoff_squared) return;
      const ScreenedPair term = screened_pair(table, alpha_squared, pair.squared);
      const double charge = charges[pair.row];
      sums.extra += charge * term.value;
      add_pair(pair, charge * term.derivative, sums);
    });
    return sums;
  }
};

// On the current GPU: sums [n_owned], and everything that `work` points to, lie there.
void launch_screened(const ScreenedLanes &work, LaneSums *sums);

}    // namespace mlip_dd
