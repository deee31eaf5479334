// Where potentials without tensors compute.
#pragma once

#include <string>

#include "pipeline/potential.h"

namespace mlip_dd {

struct NativeDevice {
  int gpu = -1;    // index, or -1: the CPU
  std::string used = "cpu";
  std::string note;    // what the user asked for and did not get; empty when nothing
};

// The GPU where `device cuda` or `cuda:N` asks for it and this build has kernels, else the CPU:
// `auto` stays there, since few atoms per rank are quicker on it. `local_rank` deals out the GPUs
// of a node. Throws Error where there is no such GPU.
NativeDevice native_device(const PotentialOptions &options, int local_rank);

}    // namespace mlip_dd
