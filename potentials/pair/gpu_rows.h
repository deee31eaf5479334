// The rows of a pair potential in the memory of a GPU, and its sums from there. No torch. Built
// where CUDA's compiler is.
#pragma once

#include <functional>
#include <vector>

#include "potentials/pair/gpu_array.h"
#include "potentials/pair/pair_rows.h"

namespace mlip_dd {

class GpuRows {
 public:
  explicit GpuRows(int gpu);

  // In each step: the positions, and where `new_rows`, at each reneighbouring, all else.
  void take(const PairRows &rows, bool new_rows);

  // Addresses on the GPU, valid until the next take().
  const PairView &view() const { return view_; }

  // GpuSums::sum of the owned rows.
  const std::vector<LaneSums> &sum(const std::function<void(LaneSums *)> &launch)
  {
    return sums_.sum(view_.n_owned, launch);
  }

 private:
  GpuArray types_, owned_atoms_, runs_, neighbours_, atoms_;
  GpuSums sums_;
  PairView view_;
};

}    // namespace mlip_dd
