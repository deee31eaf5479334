// Takes the interaction of a slab's periodic copies along its open axis out of a lattice sum: Yeh
// and Berkowitz, J. Chem. Phys. 111, 3155 (1999); with a net charge, Ballenegger, Arnold and Cerda,
// J. Chem. Phys. 131, 094107 (2009). No torch.
#pragma once

#include "potentials/coulomb/lattice.h"
#include "potentials/coulomb/slab_terms.h"

namespace mlip_dd {

// Moments of the charge along the open axis's normal, over some atoms. Heights count from the
// lattice's origin.
struct SlabMoments {
  double charge = 0.0;    // e
  double first = 0.0;     // e Angstrom
  double second = 0.0;    // e Angstrom^2
};

// `moments` of all atoms of the system.
SlabTerms slab_terms(const Lattice &lattice, int axis, const SlabMoments &moments, double constant);

// Of atoms with these moments, eV.
double slab_energy(const SlabTerms &terms, const SlabMoments &moments);

}    // namespace mlip_dd
