// Finds results that are not finite numbers, and tells where a user should look.
#pragma once

#include "host_graph.h"
#include "pipeline/pipeline.h"
#include "units.h"

namespace mlip_dd {

// Not collective. Throws Error with the atom's ID, type and position, the model, and the distance
// to the nearest other atom, if energies, forces, virials or per-atom fields of this rank's atoms
// are not finite.
void require_finite_results(const LAMMPS_NS::LAMMPS &lammps, const Pipeline &pipeline,
                            const HostGraph &host, const HostUnits &units);

}    // namespace mlip_dd
