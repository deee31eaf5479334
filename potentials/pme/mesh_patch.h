// The part of a periodic mesh that a rank's charges touch. No torch.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "potentials/pme/box_exchange.h"
#include "potentials/pme/mesh_size.h"

namespace mlip_dd {

// Where a charge stands on the mesh: the mesh point before it along each axis, and how far beyond.
struct MeshPlace {
  std::array<int, 3> point{};    // in [0, size)
  std::array<double, 3> offset{};
};
MeshPlace mesh_place(const double *fractional, const MeshSize &mesh);

class MeshPatch {
 public:
  // The smallest box, modulo the mesh, that holds the `order` points along each axis of every
  // charge, and `margin` more on each side. `marks` [K_x + K_y + K_z]: not zero for the points in
  // which charges stand, axis by axis.
  void fit(const MeshSize &mesh, int order, int margin, std::span<const std::uint8_t> marks);
  // The whole mesh.
  void cover(const MeshSize &mesh);

  // Whether all points of all charges are inside.
  bool holds(const MeshSize &mesh, int order, std::span<const std::uint8_t> marks) const;

  const MeshBox &box() const { return box_; }
  // Place in the box of each mesh point along an axis; -1 outside.
  const std::vector<int> &places(std::size_t axis) const { return places_[axis]; }

 private:
  void number_places(const MeshSize &mesh);

  MeshBox box_;
  std::array<std::vector<int>, 3> places_;
};

}    // namespace mlip_dd
