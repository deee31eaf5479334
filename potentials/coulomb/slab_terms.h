// The slab correction of one charge (slab.h).
#pragma once

#include "potentials/pair/number.h"

namespace mlip_dd {

// E = (2 pi / V) (M^2 - Q M2 - Q^2 L^2 / 12), M and M2 the moments, L the lattice's height. Under a
// strain it changes by E (2 n n^T - 1), n the axis's normal.
struct SlabTerms {
  int axis = 0;
  double height = 0.0;    // of the lattice, Angstrom
  double normal[3] = {};
  double factor = 0.0;    // 4 pi constant / V
  double charge = 0.0, first = 0.0, offset = 0.0;

  MLIP_DD_TERM double height_of(const double *fractional) const
  {
    return height * fractional[axis];
  }
  // At an atom, V.
  MLIP_DD_TERM double potential(double z) const
  {
    return factor * (z * first - 0.5 * charge * z * z - offset);
  }
  // Along the normal, over the atom's charge.
  MLIP_DD_TERM double field(double z) const { return -factor * (first - charge * z); }
  // Of an energy, component [a, b].
  MLIP_DD_TERM double virial(double energy, int a, int b) const
  {
    return energy * ((a == b) - 2.0 * normal[a] * normal[b]);
  }
};

}    // namespace mlip_dd
