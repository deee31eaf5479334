// Lattice translations of edges, for models that make edge vectors from positions themselves.
// No torch, no LAMMPS.
#pragma once

#include <span>
#include <vector>

#include "graph/atom_graph.h"
#include "graph/host_atoms.h"

namespace mlip_dd {

// How far from whole numbers of lattice vectors a shift may come out. Positions of thousands of
// Angstrom rounded to float64, over boxes of some Angstrom, stay far below; a position that is not
// the owner's is off by far more.
inline constexpr double kWholeShift = 1e-6;

// Whole numbers s of lattice vectors with x_sender + s * cell - x_receiver = r for each edge of
// `graph`. `row_positions` [n_owned + n_halo, 3], Angstrom: each row's position as its owner holds
// it, so that all images of an atom are one row and one position. Returns [E, 3]. Not collective.
// Throws Error where a vector and its rows' positions do not differ by a lattice vector.
std::vector<double> edge_unit_shifts(const AtomGraph &graph, std::span<const double> row_positions,
                                     const Cell &cell);

}    // namespace mlip_dd
