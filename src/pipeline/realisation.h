// How a spec's storage policy is carried out for a model: the cheapest exact way, or a refusal that
// says what to change.
#pragma once

#include <string>

#include "pipeline/potential.h"

namespace mlip_dd {

struct SpecFile;

struct Realisation {
  HaloMode mode = HaloMode::exchange;
  int layers_held = 1;        // rounds of message passing computed from local data alone
  std::string text;           // for the log
  bool every_atom = false;    // halo rows are all other atoms, not only those in reach
};

// `halo`: as the user asks,
//   auto       what the policy needs
//   exchange   node tensors hold owned rows; the rows in reach are fetched at each gather
//   padded     the same, with halo rows in node tensors
//   all        as exchange, but of every other atom of the system
//   wide       nothing is exchanged inside the model: ghosts reach as far as all its layers
// `ranks`: of the run. Throws Error where the policy, an operator adapter or the treatment of an
// output has no realisation, or not the one asked for.
Realisation choose_realisation(const SpecFile &file, const std::string &halo, int ranks);

}    // namespace mlip_dd
