// Ewald's reciprocal sum: structure factors of the owned atoms, summed over ranks, and back to the
// atoms. Both ways are matrix products, of phases along (h, k) with phases along l.
#pragma once

#include <memory>
#include <optional>

#include "comm/communicator.h"
#include "potentials/coulomb/parameters.h"
#include "potentials/coulomb/reciprocal_sum.h"

namespace mlip_dd {

struct EwaldParameters {
  std::optional<double> k_cutoff;                 // 1/Angstrom
  std::optional<std::array<int, 3>> k_largest;    // all wave vectors up to these indices
};

// Where neither is given, k_cutoff follows from `accuracy`.
std::unique_ptr<ReciprocalSum> make_structure_factors(const EwaldParameters &parameters,
                                                      double accuracy, Communicator &communicator);

}    // namespace mlip_dd
