// The loops of DFT-D3 on a GPU. Built where CUDA's compiler is.
#pragma once

#include <cstdint>
#include <vector>

#include "potentials/dftd3/d3_model.h"
#include "potentials/dftd3/d3_triple_lanes.h"
#include "potentials/pair/gpu_rows.h"

namespace mlip_dd {

// What the functions of d3_kernel.h compute, for all owned atoms at once and on one GPU.
class D3OnGpu {
 public:
  D3OnGpu(int gpu, const D3Model &model);

  // In each step, before the others; see GpuRows.
  void take(const PairRows &rows, bool new_rows) { rows_.take(rows, new_rows); }

  // Valid until the next call of any. `weights` and `energy_slopes` have all rows; three_body()
  // takes the weights of the last dispersion().
  const std::vector<LaneSums> &count_neighbours();
  const std::vector<LaneSums> &dispersion(const std::vector<D3Weights> &weights);
  const std::vector<LaneSums> &three_body();
  const std::vector<LaneSums> &coordination_forces(const std::vector<double> &energy_slopes);

 private:
  D3View view() const;

  GpuRows rows_;
  D3Ranges ranges_;
  bool zero_damping_;
  D3TripleLanes triples_;    // but for the view
  GpuArray pairs_, c6_, references_, weights_, energy_slopes_;
};

}    // namespace mlip_dd
