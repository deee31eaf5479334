// What is done for each charge of a lattice sum by itself, on the CPU and on GPUs.
#pragma once

#include <cstdint>

#include "base/constants.h"
#include "potentials/coulomb/slab_terms.h"
#include "potentials/pair/number.h"
#include "potentials/pair/pair_view.h"

namespace mlip_dd {

// Coordinates along the lattice's vectors, reciprocal[a] . (x - origin) / (2 pi).
struct FractionalItems {
  PairView rows;
  double reciprocal[3][3] = {};
  double origin[3] = {};
  double *fractional = nullptr;    // [n_owned, 3]

  MLIP_DD_TERM void operator()(std::int64_t row) const
  {
    const double *position = rows.atoms[rows.owned_atoms[row]].values;
    for (int a = 0; a < 3; ++a) {
      double sum = 0.0;
      for (int b = 0; b < 3; ++b) sum += reciprocal[a][b] * (position[b] - origin[b]);
      fractional[3 * row + a] = sum / (2.0 * kPi);
    }
  }
};

// Takes out each charge's pair with itself, and adds the neutralising background and the slab
// correction. The virials that belong to them, but for node_virial, follow from sums over atoms.
struct CorrectionItems {
  double self = 0.0;          // potential over the charge
  double background = 0.0;    // potential
  bool with_slab = false;
  SlabTerms slab;
  const double *fractional = nullptr;
  const double *charges = nullptr;
  double *potential = nullptr;
  double *forces = nullptr;
  double *node_virial = nullptr;    // null unless wanted

  MLIP_DD_TERM void operator()(std::int64_t i) const
  {
    const double charge = charges[i];
    potential[i] += self * charge + background;
    double energy = 0.0;
    if (with_slab) {
      const double z = slab.height_of(fractional + 3 * i);
      const double of_slab = slab.potential(z), field = slab.field(z);
      potential[i] += of_slab;
      for (int b = 0; b < 3; ++b) forces[3 * i + b] += charge * field * slab.normal[b];
      energy = 0.5 * charge * of_slab;
    }
    if (!node_virial) return;
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 3; ++c)
        node_virial[9 * i + 3 * b + c] +=
            slab.virial(energy, b, c) + (b == c ? 0.5 * charge * background : 0.0);
  }
};

}    // namespace mlip_dd
