// Geometry of a periodic cell for lattice sums: volume, reciprocal vectors, heights. No torch.
#pragma once

#include <array>

#include "graph/host_atoms.h"

namespace mlip_dd {

using Vector3 = std::array<double, 3>;

struct Lattice {
  std::array<Vector3, 3> vectors{};       // rows, Angstrom
  std::array<Vector3, 3> reciprocal{};    // vectors[a] . reciprocal[b] = 2 pi delta_ab, 1/Angstrom
  Vector3 origin{};
  Vector3 heights{};    // distances of opposite faces, Angstrom
  double volume = 0.0;
};

// With `stretch` > 1 the vector of `axis` is made longer by that factor. Throws Error for a cell
// without volume.
Lattice make_lattice(const Cell &cell, int axis = 0, double stretch = 1.0);

// Largest relative difference of the two lattices' vectors, each set against the length of its own.
double relative_change(const Lattice &before, const Lattice &now);

// The reciprocal vectors as kernels have them, in work.reciprocal[3][3].
template <class Work>
void set_reciprocal(const Lattice &lattice, Work &work)
{
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) work.reciprocal[a][b] = lattice.reciprocal[a][b];
}

}    // namespace mlip_dd
