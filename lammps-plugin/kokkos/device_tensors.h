// Where Kokkos's execution spaces lie for torch.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <kokkos_type.h>

#ifdef KOKKOS_ENABLE_CUDA
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace mlip_dd {

template <class DeviceType>
at::Device torch_device()
{
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<DeviceType, Kokkos::Cuda>)
    return {at::kCUDA, static_cast<c10::DeviceIndex>(Kokkos::Cuda().cuda_device())};
#endif
  return at::kCPU;
}

// While it lives, torch works on the stream of Kokkos's execution space, so that the kernels of
// both run in the order of their calls.
class SharedStream {
#ifdef KOKKOS_ENABLE_CUDA
 public:
  SharedStream()
      : guard_(c10::cuda::getStreamFromExternal(
            Kokkos::Cuda().cuda_stream(),
            static_cast<c10::DeviceIndex>(Kokkos::Cuda().cuda_device())))
  {}

 private:
  c10::cuda::CUDAStreamGuard guard_;
#else
 public:
  SharedStream() {}
#endif
};

// Gives the tensor these sizes, in the memory that it has where that is enough: fresh memory costs
// more than what is written there. What it held is lost.
inline void fit(at::Tensor &tensor, at::IntArrayRef sizes, const at::TensorOptions &options)
{
  const std::int64_t n = c10::multiply_integers(sizes);
  const auto bytes = static_cast<std::size_t>(n) * options.dtype().itemsize();
  if (!tensor.defined() || tensor.storage().nbytes() < bytes)
    tensor = at::empty({n + n / 8}, options);
  tensor.resize_(sizes);
}

}    // namespace mlip_dd
