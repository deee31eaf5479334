#include "potentials/pair/gpu_array.h"

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

// The host program's current GPU is put back.
class CurrentGpu {
 public:
  explicit CurrentGpu(int gpu)
  {
    check(cudaGetDevice(&before_), "asking for the current GPU");
    check(cudaSetDevice(gpu), "choosing the GPU");
  }
  ~CurrentGpu() { cudaSetDevice(before_); }
  CurrentGpu(const CurrentGpu &) = delete;
  CurrentGpu &operator=(const CurrentGpu &) = delete;

 private:
  int before_ = 0;
};

}    // namespace

GpuArray::~GpuArray()
{
  if (data_) cudaFree(data_);
}

void GpuArray::reserve(std::size_t bytes)
{
  if (bytes <= bytes_) return;
  const CurrentGpu current(gpu_);
  if (data_) check(cudaFree(data_), "freeing memory");
  data_ = nullptr;
  bytes_ = std::max(bytes, bytes_ + bytes_ / 2);
  check(cudaMalloc(&data_, bytes_), "allocating memory");
}

void GpuArray::upload(const void *from, std::size_t bytes)
{
  if (bytes == 0) return;
  reserve(bytes);
  const CurrentGpu current(gpu_);
  check(cudaMemcpy(data_, from, bytes, cudaMemcpyHostToDevice), "copying to the GPU");
}

void GpuArray::download(void *to, std::size_t bytes) const
{
  if (bytes == 0) return;
  const CurrentGpu current(gpu_);
  check(cudaMemcpy(to, data_, bytes, cudaMemcpyDeviceToHost), "computing, or copying from the GPU");
}

const std::vector<LaneSums> &GpuSums::sum(std::int64_t n,
                                          const std::function<void(LaneSums *)> &launch)
{
  const auto count = static_cast<std::size_t>(n);
  sums_.reserve(count * sizeof(LaneSums));
  {
    const CurrentGpu current(gpu_);
    launch(sums_.as<LaneSums>());
  }
  host_sums_.resize(count);
  sums_.download(host_sums_.data(), count * sizeof(LaneSums));
  return host_sums_;
}

}    // namespace mlip_dd
