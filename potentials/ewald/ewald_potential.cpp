#include "potentials/ewald/ewald_potential.h"

#include "potentials/coulomb/lattice_sum_potential.h"
#include "potentials/coulomb/parameters.h"
#include "potentials/ewald/structure_factor_lanes.h"
#include "potentials/ewald/structure_factors.h"

namespace mlip_dd {

std::unique_ptr<Potential> make_ewald_potential(const ModelSpec &model,
                                                const PotentialOptions &options,
                                                Communicator &communicator, int local_rank)
{
  static constexpr std::string_view kOwn[] = {"k_cutoff", "k_largest"};
  EwaldParameters own;
  const CoulombParameters parameters =
      read_coulomb_parameters(model, kOwn, [&](const JsonPlace &place) {
        if (const auto item = place.find("k_cutoff"))
          own.k_cutoff = positive_number(*item, "k_cutoff");
        const auto item = place.find("k_largest");
        if (!item) return;
        if (own.k_cutoff)
          item->refuse("k_largest and k_cutoff both say which wave vectors count",
                       "Remove one of them");
        own.k_largest = three_whole_numbers(*item, "k_largest", 0);
      });
  const NativeDevice device = native_device(options, local_rank);
  return make_lattice_sum_potential(
      "ewald", model, parameters, options, communicator, device,
      device.lanes
          ? make_structure_factor_lanes(device.device, own, parameters.accuracy, communicator)
          : make_structure_factors(own, parameters.accuracy, communicator));
}

}    // namespace mlip_dd
