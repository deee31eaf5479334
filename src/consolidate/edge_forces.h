// From the gradient of the energy with respect to edge vectors to forces and virials.
#pragma once

#include <span>

#include "graph/atom_graph.h"
#include "graph/virial_share.h"

namespace mlip_dd {

// With g_e = dE/dr_e and r_e = x_sender - x_receiver: F_receiver += g_e, F_sender -= g_e.
// gradient [E, 3], eV/Angstrom; forces [n_owned + n_halo, 3], added to: halo rows hold what belongs
// to their owners.
void add_edge_forces(const AtomGraph &graph, std::span<const double> gradient,
                     std::span<double> forces);

// W_ab -= sum_e r_ea g_eb, row-major 3 x 3, eV. W is the virial sum_i x_ia F_ib of the owned edges:
// positive for a system under pressure (LAMMPS's sign). Thompson, Plimpton, Mattson, J. Chem. Phys.
// 131, 154107 (2009), eq. 27 in the form over edges.
void add_edge_virial(const AtomGraph &graph, std::span<const double> gradient,
                     std::span<double, 9> virial);

// The same per atom: node_virial [n_owned + n_halo, 9], added to. Where each atom's energy U_i
// depends on its own edges alone, the senders' shares W_j are those of the heat flux
// sum_j (E_j + W_j) v_j, with W_j v_j = sum_i (x_i - x_j) (dU_i/dx_j . v_j): Fan et al., Phys. Rev.
// B 92, 094301 (2015), whose potential part is the same sum.
void add_edge_node_virial(const AtomGraph &graph, std::span<const double> gradient,
                          VirialShare share, std::span<double> node_virial);

}    // namespace mlip_dd
