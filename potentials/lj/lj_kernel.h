// Lennard-Jones energies, forces and virials of a block of owned atoms. No torch.
#pragma once

#include <array>
#include <cstdint>

#include "potentials/lj/lj_parameters.h"
#include "potentials/pair/pair_view.h"

namespace mlip_dd {

// Arrays of owned rows, added to. Pairs count half for each of their atoms.
struct LjSums {
  double *node_energy = nullptr;    // [n_owned] eV
  double *forces = nullptr;         // [n_owned, 3] eV/Angstrom
  double *node_virial = nullptr;    // [n_owned, 9] eV, or null
};

struct LjBlock {
  double energy = 0.0;               // eV
  std::array<double, 9> virial{};    // eV, sum of x_a F_b
};

// Rows [begin, end). Reads and writes nothing else, so that blocks may run side by side.
LjBlock add_lj_block(const PairView &rows, const LjParameters &parameters, std::int64_t begin,
                     std::int64_t end, const LjSums &sums);

}    // namespace mlip_dd
