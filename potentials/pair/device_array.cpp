#include "potentials/pair/device_array.h"

#include <ATen/ATen.h>

namespace mlip_dd {

at::Tensor bytes_on(const at::Device &device, const void *values, std::size_t bytes)
{
  return at::from_blob(const_cast<void *>(values), {static_cast<std::int64_t>(bytes)}, at::kByte)
      .to(device, at::kByte, /*non_blocking=*/false, /*copy=*/true);
}

}    // namespace mlip_dd
