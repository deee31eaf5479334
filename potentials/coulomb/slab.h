// Takes the interaction of a slab's periodic copies along its open axis out of a lattice sum: Yeh
// and Berkowitz, J. Chem. Phys. 111, 3155 (1999); with a net charge, Ballenegger, Arnold and Cerda,
// J. Chem. Phys. 131, 094107 (2009). No torch.
#pragma once

#include <span>

#include "potentials/coulomb/lattice.h"
#include "potentials/coulomb/reciprocal_sum.h"
#include "potentials/coulomb/sums.h"

namespace mlip_dd {

// Moments of the charge along the open axis's normal, over all atoms of the system.
struct SlabMoments {
  double charge = 0.0;    // e
  double first = 0.0;     // e Angstrom
  double second = 0.0;    // e Angstrom^2
};

// This rank's part of the moments. Heights count from the lattice's origin.
SlabMoments slab_moments(const Lattice &lattice, int axis, const OwnedCharges &atoms);

// Adds the correction. Not collective; `moments` are those of all ranks.
void add_slab_correction(const Lattice &lattice, int axis, const SlabMoments &moments,
                         const OwnedCharges &atoms, double constant, const CoulombSums &sums);

}    // namespace mlip_dd
