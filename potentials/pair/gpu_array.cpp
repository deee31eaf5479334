#include "potentials/pair/gpu_array.h"

#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <algorithm>

#include "base/error.h"

namespace mlip_dd {

namespace {

void check(cudaError_t status, const char *what)
{
  if (status != cudaSuccess)
    throw Error({"the GPU failed", cudaGetErrorString(status), what,
                 "Check the driver with nvidia-smi, or use `device cpu`"});
}

// Puts the host program's current GPU back, unless there is no context on it: putting it back would
// make one, which takes memory on a GPU that this rank does not use.
c10::cuda::CUDAGuard make_current(int gpu)
{
  return c10::cuda::CUDAGuard(static_cast<c10::DeviceIndex>(gpu));
}

}    // namespace

void with_gpu(int gpu, const std::function<void()> &work)
{
  const auto current = make_current(gpu);
  work();
}

GpuArray::~GpuArray()
{
  if (!data_) return;
  try {
    const auto current = make_current(gpu_);
    cudaFree(data_);
  } catch (...) {    // a failed GPU frees its memory itself
  }
}

void GpuArray::reserve(std::size_t bytes)
{
  if (bytes <= bytes_) return;
  const auto current = make_current(gpu_);
  if (data_) check(cudaFree(data_), "freeing memory");
  data_ = nullptr;
  const std::size_t wanted = std::max(bytes, bytes_ + bytes_ / 2);
  bytes_ = 0;
  check(cudaMalloc(&data_, wanted), "allocating memory");
  bytes_ = wanted;
}

void GpuArray::upload(const void *from, std::size_t bytes)
{
  if (bytes == 0) return;
  reserve(bytes);
  const auto current = make_current(gpu_);
  check(cudaMemcpy(data_, from, bytes, cudaMemcpyHostToDevice), "copying to the GPU");
}

void GpuArray::download(void *to, std::size_t bytes) const
{
  if (bytes == 0) return;
  const auto current = make_current(gpu_);
  check(cudaMemcpy(to, data_, bytes, cudaMemcpyDeviceToHost), "computing, or copying from the GPU");
}

const std::vector<LaneSums> &GpuSums::sum(std::int64_t n,
                                          const std::function<void(LaneSums *)> &launch)
{
  const auto count = static_cast<std::size_t>(n);
  sums_.reserve(count * sizeof(LaneSums));
  with_gpu(gpu_, [&] { launch(sums_.as<LaneSums>()); });
  host_sums_.resize(count);
  sums_.download(host_sums_.data(), count * sizeof(LaneSums));
  return host_sums_;
}

}    // namespace mlip_dd
