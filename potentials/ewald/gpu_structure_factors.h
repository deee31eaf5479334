// Ewald's reciprocal sum on a GPU: phases are made where they are needed, none are kept. Built
// where CUDA's compiler is.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "potentials/coulomb/reciprocal_sum.h"
#include "potentials/ewald/wave_plan.h"

namespace mlip_dd {

// As make_structure_factors.
std::unique_ptr<ReciprocalSum> make_gpu_structure_factors(int gpu,
                                                          const EwaldParameters &parameters,
                                                          double accuracy,
                                                          Communicator &communicator);

}    // namespace mlip_dd
