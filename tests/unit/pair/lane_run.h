// What a GPU's lanes compute, on the CPU: a whole system on one rank.
#pragma once

#include "pair/native_run.h"
#include "potentials/pair/lanes.h"
#include "potentials/pair/pair_rows.h"

namespace mlip_dd::test {

// Pairs up to `cutoff` and a little beyond, as potentials keep them between reneighbourings; and
// the positions of all atoms and images that they name.
AtomGraph graph_of(const PeriodicSystem &system, double cutoff);
std::vector<double> host_positions(const PeriodicSystem &system, double cutoff);

}    // namespace mlip_dd::test
