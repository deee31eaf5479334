// Makes the potential that a model object names.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "pipeline/potential.h"

namespace mlip_dd {

struct ModelSpec;

// Not collective, but every rank makes its own with the same arguments. Keeps a reference to
// `communicator`. `local_rank` picks among the GPUs of a node. Throws Error naming file and cure.
std::unique_ptr<Potential> make_potential(const ModelSpec &model, const PotentialOptions &options,
                                          Communicator &communicator, int local_rank);

}    // namespace mlip_dd
