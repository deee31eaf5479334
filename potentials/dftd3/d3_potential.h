// DFT-D3 dispersion as a Potential: coordination numbers and their derivatives travel to the halo,
// so that ghosts within the cutoff are enough for exact forces.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "pipeline/potential.h"
#include "spec/model_spec.h"

namespace mlip_dd {

// Not collective. Keeps a reference to `communicator`; `local_rank` picks among the GPUs of a node.
// Reads the file of reference values; throws Error where it or the parameters don't fit.
std::unique_ptr<Potential> make_d3_potential(const ModelSpec &model,
                                             const PotentialOptions &options,
                                             Communicator &communicator, int local_rank);

}    // namespace mlip_dd
