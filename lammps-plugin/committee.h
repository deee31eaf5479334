// Spread of the forces of models that were trained alike, atom by atom.
#pragma once

#include "pipeline/pipeline.h"

namespace mlip_dd {

inline constexpr const char *kForceDeviation = "force_deviation";

// Of the pipeline's last evaluation, whose steps are the members: sqrt(<|F_m - <F>|^2>) with means
// over members, in eV/Angstrom, [n_owned, 1]. Zhang, Lin, Wang, Car, E, Phys. Rev. Materials 3,
// 023804 (2019), eq. 2.
AtomField force_deviation(const Pipeline &pipeline);

}    // namespace mlip_dd
