// How fine a particle mesh must be for a given force error. No torch.
#pragma once

#include <array>

#include "potentials/coulomb/accuracy.h"
#include "potentials/coulomb/lattice.h"

namespace mlip_dd {

using MeshSize = std::array<int, 3>;

// The next size from `smallest` on without prime factors above 7, whose transforms are fast.
int smooth_size(int smallest);

// RMS force error of the mesh part, in the unit of accuracy.h: the mean square over independent
// positions of what the splines make of each wave, as itself and as its aliases (after Hockney and
// Eastwood, Computer Simulation Using Particles, section 8.7), the waves that the mesh lacks, and
// the force of each charge on itself.
double mesh_error(const Lattice &lattice, const ChargeTotals &totals, double alpha,
                  const MeshSize &mesh, int order);

// The coarsest mesh of about equal spacing with an error of at most share_of(accuracy). Throws
// Error when it would need more than 2^31 points.
MeshSize choose_mesh(const Lattice &lattice, const ChargeTotals &totals, double alpha, int order,
                     double accuracy);

}    // namespace mlip_dd
