// Arrays in the memory of a GPU, and sums over its lanes. No torch. Built where CUDA's compiler is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "potentials/pair/lanes.h"

namespace mlip_dd {

// Calls work() with the GPU as the current one.
void with_gpu(int gpu, const std::function<void()> &work);

// An array on one GPU, kept between steps and made anew only when it must be larger. All calls wait
// for what was enqueued before. Throw Error where the GPU fails.
class GpuArray {
 public:
  explicit GpuArray(int gpu) : gpu_(gpu) {}
  ~GpuArray();
  GpuArray(const GpuArray &) = delete;
  GpuArray &operator=(const GpuArray &) = delete;

  void reserve(std::size_t bytes);
  void download(void *to, std::size_t bytes) const;
  template <class Values>    // contiguous
  void upload(const Values &values)
  {
    upload(values.data(), values.size() * sizeof(*values.data()));
  }
  template <class T>
  T *as() const
  {
    return static_cast<T *>(data_);
  }

 private:
  void upload(const void *from, std::size_t bytes);

  int gpu_;
  void *data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Sums over lanes, brought to the CPU.
class GpuSums {
 public:
  explicit GpuSums(int gpu) : gpu_(gpu), sums_(gpu) {}

  // Makes the GPU the current one for launch(sums), which fills [n] there; valid until the next
  // call.
  const std::vector<LaneSums> &sum(std::int64_t n, const std::function<void(LaneSums *)> &launch);

 private:
  int gpu_;
  GpuArray sums_;
  std::vector<LaneSums> host_sums_;
};

}    // namespace mlip_dd
