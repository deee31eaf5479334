// Charges in a periodic cell as a Potential: real space, a reciprocal sum, self energy, background
// of a net charge, slab correction. Ewald and PME differ in the reciprocal sum alone.
#pragma once

#include <memory>
#include <string>

#include "comm/communicator.h"
#include "pipeline/potential.h"
#include "potentials/coulomb/parameters.h"
#include "potentials/coulomb/reciprocal_sum.h"
#include "potentials/pair/native_device.h"

namespace mlip_dd {

// Keeps a reference to `communicator`; `reciprocal` is made for `device`; `name` stands in messages
// and the log. Refuses a model with units or a dtype that it can't honour.
std::unique_ptr<Potential> make_lattice_sum_potential(std::string name, const ModelSpec &model,
                                                      const CoulombParameters &parameters,
                                                      const PotentialOptions &options,
                                                      Communicator &communicator,
                                                      const NativeDevice &device,
                                                      std::unique_ptr<ReciprocalSum> reciprocal);

}    // namespace mlip_dd
