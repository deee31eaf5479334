// Ewald's reciprocal sum by lanes on a device: phases are made where they are needed, none are
// kept.
#pragma once

#include <c10/core/Device.h>

#include <memory>

#include "comm/communicator.h"
#include "potentials/coulomb/reciprocal_sum.h"
#include "potentials/ewald/wave_plan.h"

namespace mlip_dd {

// As make_structure_factors. On one rank all stays on the device; on several the structure factors
// are summed over ranks by the CPU.
std::unique_ptr<ReciprocalSum> make_structure_factor_lanes(const c10::Device &device,
                                                           const EwaldParameters &parameters,
                                                           double accuracy,
                                                           Communicator &communicator);

}    // namespace mlip_dd
