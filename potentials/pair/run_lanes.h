// Work by lanes and by items on the device of its tensors: kernels of a GPU there, and the same
// bodies, one after the other, on the CPU.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "potentials/pair/lane_launch.h"

namespace mlip_dd {

// LaneSums of `n` rows as a tensor [n, doubles in LaneSums], not set.
at::Tensor empty_lane_sums(std::int64_t n, const at::Device &device);

// Where kernels write them.
LaneSums *lane_sums(const at::Tensor &sums);

#ifdef MLIP_DD_WITH_CUDA
// Calls enqueue(stream) with the GPU as the current one; `stream`, a cudaStream_t, is the one that
// torch computes on, so that nobody has to wait.
void on_gpu_stream(const at::Device &gpu, const std::function<void(void *stream)> &enqueue);
#endif

// The sums [n, doubles in LaneSums] of work(row, lane) for n rows. `device` is where everything
// that `work` points to lies.
template <class Work>
at::Tensor run_lanes(const Work &work, std::int64_t n, const at::Device &device)
{
  const at::Tensor sums = empty_lane_sums(n, device);
#ifdef MLIP_DD_WITH_CUDA
  if (device.is_cuda()) {
    on_gpu_stream(device, [&](void *stream) { launch_lanes(work, n, lane_sums(sums), stream); });
    return sums;
  }
#endif
  run_lanes_on_host(work, n, lane_sums(sums));
  return sums;
}

// work(item) for the items [0, n), likewise.
template <class Work>
void run_items(const Work &work, std::int64_t n, [[maybe_unused]] const at::Device &device)
{
#ifdef MLIP_DD_WITH_CUDA
  if (device.is_cuda())
    return on_gpu_stream(device, [&](void *stream) { launch_items(work, n, stream); });
#endif
  run_items_on_host(work, n);
}

}    // namespace mlip_dd
