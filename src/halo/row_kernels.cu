// CUDA launches of the row kernels: rows of a block lie along y, neighbouring words of a row along
// x, so that reads and writes of a warp are of neighbouring addresses. No atomics.
#include <ATen/Dispatch.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>

#include "halo/row_kernels.h"

namespace mlip_dd {

namespace {

constexpr std::int64_t kThreads = 256;
constexpr std::int64_t kMostBlocks = 65535;

struct Launch {
  dim3 grid, block;
};

// As many threads along a row as it has words, up to a power of two; the others take other rows.
Launch launch_for(std::int64_t rows, std::int64_t width)
{
  std::int64_t x = 1;
  while (x < width && x < kThreads) x *= 2;
  const std::int64_t y = kThreads / x;
  const std::int64_t blocks = std::min((rows + y - 1) / y, kMostBlocks);
  return {dim3(static_cast<unsigned>(blocks)),
          dim3(static_cast<unsigned>(x), static_cast<unsigned>(y))};
}

__device__ TableShare share_of_thread()
{
  return {static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y,
          static_cast<std::int64_t>(gridDim.x) * blockDim.y, threadIdx.x, blockDim.x};
}

template <class Word>
__global__ void pack_kernel(const Word *source, const std::int64_t *rows, Word *packed,
                            std::int64_t count, std::int64_t width)
{
  pack_share(source, rows, packed, count, width, share_of_thread());
}

template <class Sum, class Group>
__global__ void add_kernel(Group *owned, const Group *received, Segments segments,
                           std::int64_t width)
{
  add_segments_share<Sum>(owned, received, segments, width, share_of_thread());
}

}    // namespace

void pack_rows_cuda(const at::Tensor &source, const at::Tensor &rows, at::Tensor &packed)
{
  const c10::cuda::CUDAGuard guard(source.device());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  const std::int64_t count = rows.numel();
  const std::int64_t row_bytes = packed.numel() / count * packed.element_size();
  with_row_words(
      row_bytes, source.const_data_ptr(), packed.data_ptr(), [&](auto word, std::int64_t width) {
        using Word = decltype(word);
        const Launch launch = launch_for(count, width);
        pack_kernel<Word><<<launch.grid, launch.block, 0, stream>>>(
            static_cast<const Word *>(source.const_data_ptr()), rows.const_data_ptr<std::int64_t>(),
            static_cast<Word *>(packed.data_ptr()), count, width);
      });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void add_segments_cuda(at::Tensor &owned, const at::Tensor &received, const SegmentIndex &index)
{
  const c10::cuda::CUDAGuard guard(owned.device());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  const std::int64_t width = received.numel() / index.entries.numel();
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, owned.scalar_type(), "add_segments", [&] {
    auto *target = owned.mutable_data_ptr<scalar_t>();
    const auto *source = received.const_data_ptr<scalar_t>();
    with_row_lanes<scalar_t>(width, target, source, [&](auto lanes) {
      using Group = Lanes<scalar_t, decltype(lanes)::value>;
      const std::int64_t groups = width / decltype(lanes)::value;
      const Launch launch = launch_for(index.rows.numel(), groups);
      add_kernel<SumOf<scalar_t>><<<launch.grid, launch.block, 0, stream>>>(
          reinterpret_cast<Group *>(target), reinterpret_cast<const Group *>(source),
          index.segments(), groups);
    });
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}    // namespace mlip_dd
