// Charges to mesh points by B-splines, and mesh values back to charges. No torch.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "potentials/pme/mesh_patch.h"
#include "potentials/pme/mesh_size.h"

namespace mlip_dd {

// The charges of one evaluation with their spline weights.
class SplineCharges {
 public:
  // `fractional` [n, 3]; every charge must be inside `patch`.
  void place(const MeshSize &mesh, int order, const MeshPatch &patch,
             std::span<const double> fractional);

  // values[charge] times the weights, added to `patch` (its box in row-major order).
  void spread(std::span<const double> values, std::span<double> patch) const;

  // Of the mesh values in `patch` at each charge: the value, and its derivatives by the fractional
  // coordinates. `gradients` is [n, 3] or empty.
  void interpolate(std::span<const double> patch, std::span<double> values,
                   std::span<double> gradients) const;

 private:
  template <int Order>
  void place_all(const MeshPatch &patch, std::span<const double> fractional);
  template <int Order>
  void spread_all(std::span<const double> values, double *patch) const;
  template <int Order>
  void interpolate_all(const double *patch, double *values, double *gradients) const;

  std::int64_t count_ = 0;
  int order_ = 0;
  MeshSize mesh_{};
  std::array<int, 3> shape_{};
  // Per charge and axis `order_` entries each.
  std::vector<double> weights_, derivatives_;
  std::vector<std::int32_t> places_;
};

}    // namespace mlip_dd
