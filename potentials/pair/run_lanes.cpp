#include "potentials/pair/run_lanes.h"

#include <ATen/ops/empty.h>
#ifdef MLIP_DD_WITH_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace mlip_dd {

at::Tensor empty_lane_sums(std::int64_t n, const at::Device &device)
{
  constexpr std::int64_t kNumbers = sizeof(LaneSums) / sizeof(double);
  return at::empty({n, kNumbers}, at::TensorOptions().dtype(at::kDouble).device(device));
}

LaneSums *lane_sums(const at::Tensor &sums)
{
  return reinterpret_cast<LaneSums *>(sums.mutable_data_ptr<double>());
}

#ifdef MLIP_DD_WITH_CUDA
void on_gpu_stream(const at::Device &gpu, const std::function<void(void *stream)> &enqueue)
{
  const c10::cuda::CUDAGuard current(gpu);
  enqueue(c10::cuda::getCurrentCUDAStream(gpu.index()).stream());
}
#endif

}    // namespace mlip_dd
