// The launch of a potential's sums on a GPU: one warp per atom, its lanes added in a fixed order,
// no atomics, so that results repeat bit for bit.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "base/error.h"
#include "potentials/pair/lanes.h"

namespace mlip_dd {

inline constexpr int kWarpsPerBlock = 8;

__device__ inline void add_over_lanes(double &value)
{
  for (int half = kLanesPerAtom / 2; half > 0; half /= 2)
    value += __shfl_down_sync(0xffffffffu, value, half);
}

template <class Work>
__global__ void lane_kernel(Work work, std::int64_t n, LaneSums *sums)
{
  const int lane = static_cast<int>(threadIdx.x) % kLanesPerAtom;
  const std::int64_t first =
      static_cast<std::int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.x / kLanesPerAtom;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kWarpsPerBlock;
  // All lanes of a warp have the same row, and leave together.
  for (std::int64_t row = first; row < n; row += step) {
    LaneSums total = work(row, lane);
    for (double &value : total.force) add_over_lanes(value);
    add_over_lanes(total.energy);
    for (double &value : total.moment) add_over_lanes(value);
    add_over_lanes(total.extra);
    if (lane == 0) sums[row] = total;
  }
}

// Enqueues; `sums` [n] lies on the current device.
template <class Work>
void launch_lanes(const Work &work, std::int64_t n, LaneSums *sums)
{
  if (n == 0) return;
  constexpr std::int64_t kMostBlocks = 65535;
  const std::int64_t blocks = std::min((n + kWarpsPerBlock - 1) / kWarpsPerBlock, kMostBlocks);
  lane_kernel<<<static_cast<unsigned>(blocks), kWarpsPerBlock * kLanesPerAtom>>>(work, n, sums);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess)
    throw Error({"a kernel could not be started on the GPU", cudaGetErrorString(status), "",
                 "Check the driver with nvidia-smi, or use `device cpu`"});
}

}    // namespace mlip_dd
