// DFT-D3 sums of one atom for the lanes of a GPU.
#pragma once

#include "potentials/dftd3/d3_contract.h"
#include "potentials/dftd3/d3_terms.h"
#include "potentials/pair/lanes.h"

namespace mlip_dd {

// Coordination numbers of an element's references.
struct D3References {
  int n = 0;
  double coordination[kMostReferences] = {};
};

// What the kernels read, in the memory where they run.
struct D3View {
  PairView rows;
  D3Ranges ranges;
  bool zero_damping = false;
  const D3PairNumbers *pairs = nullptr;        // [n_types, n_types]
  const double *c6 = nullptr;                  // of each pair [kMostReferences, kMostReferences]
  const D3References *references = nullptr;    // [n_types]
  const D3Weights *weights = nullptr;          // of all rows
  const double *energy_slopes = nullptr;       // of all rows

  MLIP_DD_TERM std::int64_t pair(std::int64_t row, int type) const
  {
    return static_cast<std::int64_t>(rows.types[row]) * rows.n_types + type;
  }
};

// extra: the coordination number.
struct D3CountLanes {
  D3View view;

  MLIP_DD_TERM LaneSums operator()(std::int64_t row, int lane) const
  {
    LaneSums sums;
    for (int type = 0; type < view.rows.n_types; ++type)
      for_each_neighbour(view.rows, row, type, lane, [&](const LanePair &pair) {
        sums.extra += counting(view.ranges, view.pairs[view.pair(row, type)], pair.squared).value;
      });
    return sums;
  }
};

// The weights of each row, owned or halo.
struct D3WeightItems {
  const std::int32_t *types = nullptr;
  const D3References *references = nullptr;    // [n_types]
  const double *coordination = nullptr;
  D3Weights *weights = nullptr;

  MLIP_DD_TERM void operator()(std::int64_t row) const
  {
    const D3References &own = references[types[row]];
    weights[row] = d3_weights(own.coordination, own.n, coordination[row]);
  }
};

// Energies, and forces at fixed coordination numbers; extra: the derivative of the energy by the
// atom's own.
struct D3DispersionLanes {
  D3View view;

  MLIP_DD_TERM LaneSums operator()(std::int64_t row, int lane) const
  {
    LaneSums sums;
    for (int type = 0; type < view.rows.n_types; ++type) {
      const std::int64_t kind = view.pair(row, type);
      const Contracted own =
          contract(view.c6 + kMostReferences * kMostReferences * kind, view.weights[row],
                   static_cast<std::size_t>(view.references[view.rows.types[row]].n));
      const int references = view.references[type].n;
      for_each_neighbour(view.rows, row, type, lane, [&](const LanePair &pair) {
        const D3Term<double> term =
            view.zero_damping ? damped<true>(view.ranges, view.pairs[kind], pair.squared)
                              : damped<false>(view.ranges, view.pairs[kind], pair.squared);
        double c6 = 0.0, slope = 0.0;
        for (int q = 0; q < references; ++q) {
          const double weight = view.weights[pair.row].weights[q / 4].values[q % 4];
          c6 += own.c6[q] * weight;
          slope += own.slope[q] * weight;
        }
        sums.energy -= c6 * term.value;
        sums.extra -= slope * term.value;
        add_pair(pair, -c6 * term.slope_over_r, sums);
      });
    }
    return sums;
  }
};

// Forces by way of the coordination numbers.
struct D3CoordinationLanes {
  D3View view;

  MLIP_DD_TERM LaneSums operator()(std::int64_t row, int lane) const
  {
    LaneSums sums;
    const double own = view.energy_slopes[row];
    for (int type = 0; type < view.rows.n_types; ++type)
      for_each_neighbour(view.rows, row, type, lane, [&](const LanePair &pair) {
        const D3Term<double> term =
            counting(view.ranges, view.pairs[view.pair(row, type)], pair.squared);
        add_pair(pair, (own + view.energy_slopes[pair.row]) * term.slope_over_r, sums);
      });
    return sums;
  }
};

}    // namespace mlip_dd
