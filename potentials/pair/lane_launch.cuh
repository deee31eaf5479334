// The launch of a potential's sums on a GPU: one warp per atom, its lanes added in a fixed order,
// no atomics, so that results repeat bit for bit. And that of work without sums, a thread for each
// item.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "base/error.h"
#include "potentials/pair/lane_launch.h"

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

template <class Work>
__global__ void item_kernel(Work work, std::int64_t n)
{
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       item < n; item += step)
    work(item);
}

inline unsigned blocks_for(std::int64_t n, int per_block)
{
  constexpr std::int64_t kMostBlocks = 65535;
  return static_cast<unsigned>(std::min((n + per_block - 1) / per_block, kMostBlocks));
}

inline void check_launch()
{
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess)
    throw Error({"a kernel could not be started on the GPU", cudaGetErrorString(status), "",
                 "Check the driver with nvidia-smi, or use `device cpu`"});
}

template <class Work>
void launch_lanes(const Work &work, std::int64_t n, LaneSums *sums, void *stream)
{
  if (n == 0) return;
  lane_kernel<<<blocks_for(n, kWarpsPerBlock), kWarpsPerBlock * kLanesPerAtom, 0,
                static_cast<cudaStream_t>(stream)>>>(work, n, sums);
  check_launch();
}

template <class Work>
void launch_items(const Work &work, std::int64_t n, void *stream)
{
  constexpr int kThreads = 128;
  if (n == 0) return;
  item_kernel<<<blocks_for(n, kThreads), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(work, n);
  check_launch();
}

}    // namespace mlip_dd
