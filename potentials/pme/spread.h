// Charges to mesh points by B-splines, and mesh values back to charges. No torch.
#pragma once

#include <memory>
#include <span>

#include "potentials/pme/mesh_patch.h"
#include "potentials/pme/mesh_size.h"

namespace mlip_dd {

// The charges of one evaluation with their spline weights.
class SplineCharges {
 public:
  virtual ~SplineCharges() = default;

  // `fractional` [n, 3]; every charge must be inside `patch`.
  virtual void place(const MeshSize &mesh, int order, const MeshPatch &patch,
                     std::span<const double> fractional) = 0;

  // `patch` (its box in row-major order) becomes the sum over charges of value times weights.
  virtual void spread(std::span<const double> values, std::span<double> patch) = 0;

  // Of the mesh values in `patch` at each charge: the value, and its derivatives by the fractional
  // coordinates. `gradients` is [n, 3] or empty.
  virtual void interpolate(std::span<const double> patch, std::span<double> values,
                           std::span<double> gradients) = 0;
};

// On the CPU; the results are the same bits for any number of threads.
std::unique_ptr<SplineCharges> make_spline_charges(int threads = 1);

}    // namespace mlip_dd
