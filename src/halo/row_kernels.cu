// CUDA launches of the row kernels. One thread per element, elements of a row side by side: reads
// and writes are coalesced along rows. No atomics, so sums repeat bit for bit.
#include <ATen/Dispatch.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <type_traits>

#include "halo/row_kernel_bodies.h"
#include "halo/row_kernels.h"
#include "halo/row_words.h"

namespace mlip_dd {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 65535;

template <class Word>
__global__ void pack_kernel(const Word *source, const std::int64_t *rows, Word *packed,
                            std::int64_t width, std::int64_t total)
{
  const std::int64_t stride = static_cast<std::int64_t>(blockDim.x) * gridDim.x;
  for (std::int64_t k = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; k < total;
       k += stride)
    pack_element(source, rows, packed, width, k / width, k % width);
}

template <class Value, class Sum>
__global__ void add_kernel(Value *owned, const Value *received, const std::int64_t *rows,
                           const std::int64_t *offsets, const std::int64_t *entries,
                           std::int64_t width, std::int64_t total)
{
  const std::int64_t stride = static_cast<std::int64_t>(blockDim.x) * gridDim.x;
  for (std::int64_t k = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; k < total;
       k += stride)
    add_segment_element<Value, Sum>(owned, received, rows, offsets, entries, width, k / width,
                                    k % width);
}

int blocks_for(std::int64_t total)
{
  return static_cast<int>(std::min((total + kThreads - 1) / kThreads, kMostBlocks));
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
        const std::int64_t total = count * width;
        pack_kernel<Word><<<blocks_for(total), kThreads, 0, stream>>>(
            static_cast<const Word *>(source.const_data_ptr()), rows.const_data_ptr<std::int64_t>(),
            static_cast<Word *>(packed.data_ptr()), width, total);
      });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

void add_segments_cuda(at::Tensor &owned, const at::Tensor &received, const SegmentIndex &index)
{
  const c10::cuda::CUDAGuard guard(owned.device());
  const auto stream = c10::cuda::getCurrentCUDAStream();
  const std::int64_t width = received.numel() / index.entries.numel();
  const std::int64_t total = index.rows.numel() * width;
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, owned.scalar_type(), "add_segments", [&] {
    using Sum = std::conditional_t<std::is_integral_v<scalar_t>, std::int64_t, double>;
    add_kernel<scalar_t, Sum><<<blocks_for(total), kThreads, 0, stream>>>(
        owned.mutable_data_ptr<scalar_t>(), received.const_data_ptr<scalar_t>(),
        index.rows.const_data_ptr<std::int64_t>(), index.offsets.const_data_ptr<std::int64_t>(),
        index.entries.const_data_ptr<std::int64_t>(), width, total);
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}

}    // namespace mlip_dd
