// Loads the library with the pair style, and with it torch, so that both use their own libraries.
#pragma once

#include "style.h"

namespace mlip_dd {

// A new pair style from libmlip_dd_style.so, which lies beside this plugin and is loaded the first
// time. Errors end the run through LAMMPS, with the loader's message.
template <StyleVariant variant>
LAMMPS_NS::Pair *make_pair_style(LAMMPS_NS::LAMMPS *lammps);

}    // namespace mlip_dd
