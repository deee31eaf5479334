// The loops of DFT-D3 over the neighbours of a block of owned atoms. No torch.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "potentials/dftd3/d3_model.h"
#include "potentials/pair/pair_rows.h"

namespace mlip_dd {

// Arrays of owned rows, added to; pairs count half for each of their atoms.
struct D3Sums {
  double *node_energy = nullptr;    // [n_owned] eV
  double *forces = nullptr;         // [n_owned, 3] eV/Angstrom
  double *node_virial = nullptr;    // [n_owned, 9] eV, or null
};

struct D3Block {
  double energy = 0.0;               // eV
  std::array<double, 9> virial{};    // eV, sum of x_a F_b
};

// All work on rows [begin, end) and write those alone, so that blocks may run side by side.

// coordination[row] is set to the number of the owned atom's neighbours, counted smoothly.
void count_neighbours(const PairRows &rows, const D3Model &model, std::int64_t begin,
                      std::int64_t end, double *coordination);

// Energies and the forces at fixed coordination numbers. `weights` has all rows, owned and halo.
// energy_slope[row] is set to the derivative of the whole system's energy by the owned atom's
// coordination number: all pairs of an atom are with its owner, so no other rank has a part of it.
D3Block add_dispersion(const PairRows &rows, const D3Model &model,
                       const std::vector<D3Weights> &weights, std::int64_t begin, std::int64_t end,
                       double *energy_slope, const D3Sums &sums);

// The forces by way of the coordination numbers; energy_slope has all rows, owned and halo.
D3Block add_coordination_forces(const PairRows &rows, const D3Model &model,
                                const double *energy_slope, std::int64_t begin, std::int64_t end,
                                const D3Sums &sums);

}    // namespace mlip_dd
