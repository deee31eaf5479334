// The Ewald sum as a Potential: exact to the accuracy asked for, its cost grows faster than the
// number of atoms.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "pipeline/potential.h"
#include "spec/model_spec.h"

namespace mlip_dd {

// As make_potential.
std::unique_ptr<Potential> make_ewald_potential(const ModelSpec &model,
                                                const PotentialOptions &options,
                                                Communicator &communicator, int local_rank);

}    // namespace mlip_dd
