// A TorchScript file as a Potential: inputs and outputs by the names that its family or spec gives,
// halo exchange by interception.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "pipeline/potential.h"
#include "spec/model_spec.h"

namespace mlip_dd {

// As make_potential.
std::unique_ptr<Potential> make_torchscript_potential(const ModelSpec &model,
                                                      const PotentialOptions &options,
                                                      Communicator &communicator, int local_rank);

}    // namespace mlip_dd
