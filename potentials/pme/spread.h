// Charges to mesh points by B-splines, and mesh values back to charges. All tensors are on the
// device that the charges were made for, contiguous, of float64.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "potentials/pme/mesh_patch.h"
#include "potentials/pme/mesh_size.h"

namespace mlip_dd {

// The charges of one evaluation with their spline weights.
class SplineCharges {
 public:
  virtual ~SplineCharges() = default;

  // `fractional` [n, 3]; every charge must be inside `patch`.
  virtual void place(const MeshSize &mesh, int order, const MeshPatch &patch,
                     const at::Tensor &fractional) = 0;

  // `patch` (its box in row-major order) becomes the sum over charges of value times weights.
  virtual void spread(const at::Tensor &values, const at::Tensor &patch) = 0;

  // Of the mesh values in `patch` at each charge: the value, and its derivatives by the fractional
  // coordinates. `gradients` is [n, 3] or undefined.
  virtual void interpolate(const at::Tensor &patch, const at::Tensor &values,
                           const at::Tensor &gradients) = 0;
};

// On the CPU; the results are the same bits for any number of threads.
std::unique_ptr<SplineCharges> make_spline_charges(int threads = 1);

// By lanes on `device`.
std::unique_ptr<SplineCharges> make_spline_lanes(const at::Device &device);

}    // namespace mlip_dd
