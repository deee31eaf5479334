// Where potentials without a model file compute.
#pragma once

#include <c10/core/Device.h>

#include <string>

#include "pipeline/potential.h"

namespace mlip_dd {

struct NativeDevice {
  c10::Device device{c10::DeviceType::CPU};
  bool lanes = false;    // whether by the kernels of GPUs: on these always, on the CPU in tests
  int gpu = -1;          // index, or -1: the CPU
  std::string used = "cpu";
  std::string note;    // what the user asked for and did not get; empty when nothing
};

// The GPU where `device cuda` or `cuda:N` asks for it and this build has kernels, else the CPU:
// `auto` stays there, since few atoms per rank are quicker on it; Kokkos on a GPU asks for that
// one. `local_rank` deals out the GPUs of a node. `sends_from_gpu`: whether messages of a GPU's
// rows leave as `options` asks. Throws Error where there is no such GPU.
NativeDevice native_device(const PotentialOptions &options, int local_rank,
                           bool sends_from_gpu = false);

}    // namespace mlip_dd
