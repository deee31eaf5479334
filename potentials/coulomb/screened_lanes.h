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
      if (!(pair.squared < cutoff_squared)) return;    // nor where it is no number
      const ScreenedPair term = screened_pair(table, alpha_squared, pair.squared);
      const double charge = charges[pair.row];
      sums.extra += charge * term.value;
      add_pair(pair, charge * term.derivative, sums);
    });
    return sums;
  }
};

// What they found of an atom is added to its sums; half of each pair's virial belongs to it.
struct ScreenedResultItems {
  const LaneSums *lanes = nullptr;
  const double *charges = nullptr;
  double constant = 0.0;    // eV Angstrom / e^2
  double *potential = nullptr, *forces = nullptr;
  double *virials = nullptr;    // [n_owned, 9], set

  MLIP_DD_TERM void operator()(std::int64_t i) const
  {
    const LaneSums &found = lanes[i];
    const double factor = constant * charges[i];
    potential[i] += constant * found.extra;
    for (int a = 0; a < 3; ++a) forces[3 * i + a] += factor * found.force[a];
    for (int k = 0; k < 9; ++k) virials[9 * i + k] = -0.5 * factor * found.moment[moment_place(k)];
  }
};

}    // namespace mlip_dd
