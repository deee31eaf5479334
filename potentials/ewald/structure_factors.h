// Ewald's reciprocal sum: structure factors of the owned atoms, summed over ranks, and back to the
// atoms. Both ways are matrix products, of phases along (h, k) with phases along l.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "potentials/coulomb/reciprocal_sum.h"
#include "potentials/ewald/wave_plan.h"

namespace mlip_dd {

// Keeps a reference to `communicator`.
std::unique_ptr<ReciprocalSum> make_structure_factors(const EwaldParameters &parameters,
                                                      double accuracy, Communicator &communicator);

}    // namespace mlip_dd
