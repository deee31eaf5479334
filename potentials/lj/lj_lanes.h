// Lennard-Jones sums of one atom for the lanes of a GPU.
#pragma once

#include "potentials/lj/lj_terms.h"
#include "potentials/pair/lanes.h"

namespace mlip_dd {

struct LjLanes {
  PairView rows;
  const LjPair *pairs = nullptr;    // [n_types, n_types]
  double inverse_width = 0.0;       // of the switch; 0: none

  MLIP_DD_TERM LaneSums operator()(std::int64_t row, int lane) const
  {
    LaneSums sums;
    const LjPair *own = pairs + rows.types[row] * rows.n_types;
    for (int type = 0; type < rows.n_types; ++type)
      for_each_neighbour(rows, row, type, lane, [&](const LanePair &pair) {
        const LjTerm<double> term = inverse_width > 0.0
                                        ? lj_term<true>(own[type], inverse_width, pair.squared)
                                        : lj_term<false>(own[type], 0.0, pair.squared);
        sums.energy += term.energy;
        add_pair(pair, term.slope_over_r, sums);
      });
    return sums;
  }
};

}    // namespace mlip_dd
