// How a spec's storage policy is carried out for a model: the cheapest exact way, or a refusal that
// says what to change.
#pragma once

#include <string>

#include "pipeline/potential.h"

namespace mlip_dd {

struct SpecFile;

struct Realisation {
  HaloMode mode = HaloMode::exchange;
  int layers_held = 1;    // rounds of message passing computed from local data alone
  std::string text;       // for the log
};

// `halo`: auto, exchange, padded or wide, as the user asks. `ranks`: of the run. Throws Error where
// the policy, an operator adapter or the treatment of an output has no realisation, or not the one
// asked for.
Realisation choose_realisation(const SpecFile &file, const std::string &halo, int ranks);

}    // namespace mlip_dd
