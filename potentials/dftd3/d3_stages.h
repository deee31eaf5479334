// The work of DFT-D3 in a step, between whose stages rows travel.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "pipeline/potential.h"
#include "potentials/dftd3/d3_model.h"
#include "potentials/pair/pair_view.h"

namespace mlip_dd {

// Called in this order in each step; what they add is in `output` after the last. Tensors are
// float64 on the device where `rows` lie; those of all rows are [n_owned + n_halo].
class D3Stages {
 public:
  virtual ~D3Stages() = default;

  // [n_owned] coordination numbers.
  virtual at::Tensor count_neighbours(const PairView &rows) = 0;

  // Energies, and forces at fixed coordination numbers, of pairs and triples. `coordination` has
  // all rows. Gives the derivatives [n_owned] of the whole system's energy by the coordination
  // numbers: all pairs of an atom are with its owner, so no other rank has a part of them.
  virtual at::Tensor add_dispersion(const PairView &rows, const at::Tensor &coordination,
                                    PotentialOutput &output) = 0;

  // Forces by way of the coordination numbers. `energy_slopes`, the derivatives, has all rows.
  virtual void add_coordination_forces(const PairView &rows, const at::Tensor &energy_slopes,
                                       PotentialOutput &output) = 0;
};

// By the kernels of d3_kernel.h, on the CPU; or by those of d3_lanes.h on any device. `model` must
// outlive them.
std::unique_ptr<D3Stages> make_d3_blocks(const D3Model &model, int threads);
std::unique_ptr<D3Stages> make_d3_lanes(const D3Model &model, const at::Device &device);

}    // namespace mlip_dd
