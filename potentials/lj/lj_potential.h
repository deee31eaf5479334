// The Lennard-Jones 12-6 potential as a Potential: no model file, no tensors, no exchanges.
#pragma once

#include <memory>

#include "pipeline/potential.h"
#include "spec/model_spec.h"

namespace mlip_dd {

// Not collective. `local_rank` picks among the GPUs of a node. Throws Error where the parameters
// don't fit.
std::unique_ptr<Potential> make_lj_potential(const ModelSpec &model,
                                             const PotentialOptions &options, int local_rank);

}    // namespace mlip_dd
