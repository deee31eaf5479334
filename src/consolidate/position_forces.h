// From the gradient of the energy with respect to positions and lattice vectors to forces and
// virial, for models that make edge vectors from these.
#pragma once

#include <span>

namespace mlip_dd {

// With g_i = dE/dx_i: F_i -= g_i and W_ab -= sum_i x_ia g_ib. gradient, positions [n, 3],
// eV/Angstrom and Angstrom; forces [at least n, 3]. W has the sign of add_edge_virial; it is
// complete with the lattice vectors' part.
void add_position_forces(std::span<const double> gradient, std::span<const double> positions,
                         std::span<double> forces, std::span<double, 9> virial);

// W_ab -= sum_k c_ka (dE/dc)_kb over lattice vectors c_k, in rows: a strain moves them as it moves
// positions.
void add_cell_virial(std::span<const double> gradient, std::span<const double> cell,
                     std::span<double, 9> virial);

}    // namespace mlip_dd
