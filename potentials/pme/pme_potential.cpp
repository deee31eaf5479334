#include "potentials/pme/pme_potential.h"

#include "potentials/coulomb/lattice_sum_potential.h"
#include "potentials/coulomb/parameters.h"
#include "potentials/pair/native_device.h"
#include "potentials/pme/particle_mesh.h"
#include "potentials/pme/splines.h"

namespace mlip_dd {

namespace {

MeshSharing read_sharing(const JsonPlace &place)
{
  static constexpr std::string_view kWords[] = {"auto", "replicated", "distributed"};
  const std::string word = place.text("fft");
  if (word == kWords[1]) return MeshSharing::replicated;
  if (word == kWords[0] || word == kWords[2]) return MeshSharing::distributed;
  place.refuse_word("fft", kWords);
}

MeshParameters read_mesh(const JsonPlace &place)
{
  MeshParameters parameters;
  if (const auto item = place.find("order")) {
    parameters.order = item->whole_number("The spline order", kSmallestOrder);
    if (parameters.order > kLargestOrder)
      item->refuse("The spline order must be between 4 and 8", "6 is usual");
  }
  if (const auto item = place.find("mesh"))
    parameters.mesh = three_whole_numbers(*item, "mesh", parameters.order);
  if (const auto item = place.find("fft")) parameters.sharing = read_sharing(*item);
  return parameters;
}

}    // namespace

std::unique_ptr<Potential> make_pme_potential(const ModelSpec &model,
                                              const PotentialOptions &options,
                                              Communicator &communicator, int local_rank)
{
  static constexpr std::string_view kOwn[] = {"order", "mesh", "fft"};
  MeshParameters own;
  const CoulombParameters parameters =
      read_coulomb_parameters(model, kOwn, [&](const JsonPlace &place) { own = read_mesh(place); });
  const NativeDevice device = native_device(options, local_rank);
  return make_lattice_sum_potential(
      "pme", model, parameters, options, communicator, device,
      make_particle_mesh(own, parameters.accuracy, communicator, device, options.threads));
}

}    // namespace mlip_dd
