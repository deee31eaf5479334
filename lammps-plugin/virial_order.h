// LAMMPS's order of the components of a virial, and a row-major 3 x 3 tensor's. For device code
// too.
#pragma once

#ifdef LMP_KOKKOS
#include <Kokkos_Macros.hpp>
#define MLIP_DD_BOTH KOKKOS_INLINE_FUNCTION
#else
#define MLIP_DD_BOTH inline
#endif

namespace mlip_dd {

// Component k of xx, yy, zz, xy, xz, yz, symmetrised.
MLIP_DD_BOTH double symmetric_part(const double *w, int k)
{
  const int a = k < 3 ? k : (k == 5 ? 1 : 0);
  const int b = k < 3 ? k : (k == 3 ? 1 : 2);
  return 0.5 * (w[3 * a + b] + w[3 * b + a]);
}

// Where component k of xx, yy, zz, xy, xz, yz, yx, zx, zy stands.
MLIP_DD_BOTH int centroid_entry(int k)
{
  if (k < 3) return 4 * k;
  if (k < 6) return k == 5 ? 5 : k - 2;
  return k == 6 ? 3 : k - 1;
}

}    // namespace mlip_dd
