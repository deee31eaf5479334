// The keys of "parameters" that Ewald and PME share, and a strict reader for both. No torch.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "spec/json_place.h"
#include "spec/model_spec.h"

namespace mlip_dd {

struct CoulombParameters {
  double accuracy = 1e-5;           // RMS force error over that of two unit charges 1 A apart
  double cutoff = 0.0;              // Angstrom, given or chosen from the accuracy
  std::optional<double> alpha;      // 1/Angstrom; chosen from accuracy and cutoff when absent
  std::vector<double> charges;      // e, one per element; empty: the host's
  double coulomb_constant = 0.0;    // eV Angstrom / e^2
  // Length given to the non-periodic axis, over the box's; absent: periodic along all axes.
  std::optional<double> slab;
};

// Calls `read` with the place of /model/parameters, whose keys must be the shared ones or `own`.
// Throws Error naming key, value, place and cure.
CoulombParameters read_coulomb_parameters(const ModelSpec &model,
                                          std::span<const std::string_view> own,
                                          const std::function<void(const JsonPlace &)> &read);

// A number > 0.
double positive_number(const JsonPlace &place, const std::string &what);

// An array of three whole numbers, each at least `smallest`.
std::array<int, 3> three_whole_numbers(const JsonPlace &place, const std::string &what,
                                       int smallest);

}    // namespace mlip_dd
