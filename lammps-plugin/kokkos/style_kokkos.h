// Makes the Kokkos variants of the pair style.
#pragma once

#include "style.h"

namespace mlip_dd {

// Ends the run, through LAMMPS, where it was not started with Kokkos.
LAMMPS_NS::Pair *make_kokkos_style(LAMMPS_NS::LAMMPS *lammps, StyleVariant variant);

}    // namespace mlip_dd
