// Smooth particle-mesh Ewald as a Potential: charges in a periodic cell, at a cost that grows with
// the number of atoms.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "pipeline/potential.h"
#include "spec/model_spec.h"

namespace mlip_dd {

// As make_potential.
std::unique_ptr<Potential> make_pme_potential(const ModelSpec &model,
                                              const PotentialOptions &options,
                                              Communicator &communicator, int local_rank);

}    // namespace mlip_dd
