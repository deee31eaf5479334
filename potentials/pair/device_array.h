// Constants of a potential, numbers or plain structs, in the memory of a device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace mlip_dd {

// A copy on `device`, as bytes.
at::Tensor bytes_on(const at::Device &device, const void *values, std::size_t bytes);

template <class T>
class DeviceArray {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  DeviceArray(const at::Device &device, const std::vector<T> &values)
      : bytes_(bytes_on(device, values.data(), values.size() * sizeof(T)))
  {}

  const T *data() const { return static_cast<const T *>(bytes_.const_data_ptr()); }

 private:
  at::Tensor bytes_;
};

}    // namespace mlip_dd
