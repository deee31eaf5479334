// What is done for each charge of a particle mesh by itself, on the CPU and on GPUs.
#pragma once

#include <cstdint>

#include "base/constants.h"
#include "potentials/pme/splines.h"

namespace mlip_dd {

// Marks the points of the mesh in which charges stand, axis by axis.
struct MarkItems {
  int mesh[3] = {};
  const double *fractional = nullptr;    // [n, 3]
  std::uint8_t *marks = nullptr;         // [K_x + K_y + K_z]

  MLIP_DD_TERM void operator()(std::int64_t i) const
  {
    std::uint8_t *along = marks;
    for (int a = 0; a < 3; ++a) {
      along[axis_place(fractional[3 * i + a], mesh[a]).point] = 1;
      along += mesh[a];
    }
  }
};

// Adds the potential of the mesh and the force that follows from its derivatives by the fractional
// coordinates.
struct MeshResultItems {
  double reciprocal[3][3] = {};         // of the lattice, 1/Angstrom
  const double *charges = nullptr;      // [n]
  const double *values = nullptr;       // [n]
  const double *gradients = nullptr;    // [n, 3]
  double *potential = nullptr, *forces = nullptr;

  MLIP_DD_TERM void operator()(std::int64_t i) const
  {
    potential[i] += values[i];
    for (int b = 0; b < 3; ++b) {
      double gradient = 0.0;
      for (int a = 0; a < 3; ++a) gradient += gradients[3 * i + a] * reciprocal[a][b] / (2.0 * kPi);
      forces[3 * i + b] -= charges[i] * gradient;
    }
  }
};

}    // namespace mlip_dd
