// The arguments of `pair_style mlip/dd`.
#pragma once

#include <span>
#include <string>

namespace mlip_dd {

struct PairOptions {
  std::string spec_file;
  std::string device = "auto";
  int threads = 0;              // 0: not given
  std::string halo = "auto";    // auto, exchange, padded, all, wide
  std::string mpi = "auto";     // auto, host, device
  bool log = true;
  bool charges_to_q = false;    // the model's charges are written to the atoms
  int committee_every = 0;      // steps between those that tell its spread; 0: not given, each step
};

// Throws Error naming the argument and its legal values.
PairOptions read_pair_options(std::span<const std::string> arguments);

}    // namespace mlip_dd
