// The loops of DFT-D3 over the neighbours of a block of owned atoms. No torch.
#pragma once

#include <cstdint>

#include "potentials/dftd3/d3_model.h"
#include "potentials/pair/pair_view.h"
#include "potentials/pair/row_results.h"

namespace mlip_dd {

// All work on rows [begin, end) and write those alone, so that blocks may run side by side.

// coordination[row] is set to the number of the owned atom's neighbours, counted smoothly.
void count_neighbours(const PairView &rows, const D3Model &model, std::int64_t begin,
                      std::int64_t end, double *coordination);

// Energies and the forces at fixed coordination numbers. `weights` has all rows, owned and halo.
// energy_slope[row] is set to the derivative of the whole system's energy by the owned atom's
// coordination number: all pairs of an atom are with its owner, so no other rank has a part of it.
BlockTotals add_dispersion(const PairView &rows, const D3Model &model, const D3Weights *weights,
                           std::int64_t begin, std::int64_t end, double *energy_slope,
                           const RowResults &results);

// The forces by way of the coordination numbers; energy_slope has all rows, owned and halo.
BlockTotals add_coordination_forces(const PairView &rows, const D3Model &model,
                                    const double *energy_slope, std::int64_t begin,
                                    std::int64_t end, const RowResults &results);

}    // namespace mlip_dd
