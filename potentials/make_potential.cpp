#include "potentials/make_potential.h"

#include "base/error.h"
#include "potentials/dftd3/d3_potential.h"
#include "potentials/ewald/ewald_potential.h"
#include "potentials/lj/lj_potential.h"
#include "potentials/pme/pme_potential.h"
#include "potentials/torchscript/torchscript_potential.h"
#include "spec/model_spec.h"

namespace mlip_dd {

std::unique_ptr<Potential> make_potential(const ModelSpec &model, const PotentialOptions &options,
                                          Communicator &communicator, int local_rank)
{
  if (model.potential == "torchscript")
    return make_torchscript_potential(model, options, communicator, local_rank);
  if (model.potential == "ewald")
    return make_ewald_potential(model, options, communicator, local_rank);
  if (model.potential == "pme") return make_pme_potential(model, options, communicator, local_rank);
  if (model.potential == "dftd3")
    return make_d3_potential(model, options, communicator, local_rank);
  if (model.potential == "lj") return make_lj_potential(model, options, local_rank);
  throw Error({"this build does not run the potential", "\"" + model.potential + "\"",
               "/model/potential", "Use \"torchscript\", \"lj\", \"ewald\", \"pme\" or \"dftd3\""});
}

}    // namespace mlip_dd
