#include "potentials/pme/mesh_patch.h"

#include <algorithm>

#include "potentials/pme/splines.h"

namespace mlip_dd {

namespace {

// Start and length of the shortest stretch, modulo the size, that holds all marked points.
void shortest_stretch(const std::vector<char> &marked, int &start, int &count)
{
  const int size = static_cast<int>(marked.size());
  start = count = 0;
  int longest_gap = -1, last = -1, first = -1;
  for (int p = 0; p < 2 * size; ++p) {
    if (!marked[static_cast<std::size_t>(p % size)]) continue;
    if (first < 0) first = p;
    if (last >= 0 && p - last - 1 > longest_gap) {
      longest_gap = p - last - 1;
      start = p % size;
    }
    last = p;
  }
  if (first >= 0) count = size - longest_gap;
}

// Calls body(axis, point) for every point that a charge touches.
template <class Body>
void for_each_point(const MeshSize &mesh, int order, std::span<const std::uint8_t> marks,
                    const Body &body)
{
  const std::uint8_t *along = marks.data();
  for (std::size_t a = 0; a < 3; ++a) {
    for (int point = 0; point < mesh[a]; ++point)
      for (int j = 0; along[point] && j < order; ++j)
        body(a, static_cast<std::size_t>((point - j + mesh[a] * order) % mesh[a]));
    along += mesh[a];
  }
}

}    // namespace

MeshPlace mesh_place(const double *fractional, const MeshSize &mesh)
{
  MeshPlace place;
  for (std::size_t a = 0; a < 3; ++a) {
    const AxisPlace along = axis_place(fractional[a], mesh[a]);
    place.point[a] = along.point;
    place.offset[a] = along.offset;
  }
  return place;
}

void MeshPatch::fit(const MeshSize &mesh, int order, int margin,
                    std::span<const std::uint8_t> marks)
{
  std::array<std::vector<char>, 3> marked;
  for (std::size_t a = 0; a < 3; ++a) marked[a].assign(static_cast<std::size_t>(mesh[a]), 0);
  for_each_point(mesh, order, marks,
                 [&](std::size_t a, std::size_t point) { marked[a][point] = 1; });
  for (std::size_t a = 0; a < 3; ++a) {
    int start = 0, count = 0;
    shortest_stretch(marked[a], start, count);
    if (count > 0) {
      start = (start - margin + mesh[a] * (margin + 1)) % mesh[a];
      count += 2 * margin;
    }
    box_.start[a] = count < mesh[a] ? start : 0;
    box_.count[a] = std::min(count, mesh[a]);
  }
  number_places(mesh);
}

void MeshPatch::cover(const MeshSize &mesh)
{
  box_.start = {};
  box_.count = mesh;
  number_places(mesh);
}

void MeshPatch::number_places(const MeshSize &mesh)
{
  for (std::size_t a = 0; a < 3; ++a) {
    places_[a].assign(static_cast<std::size_t>(mesh[a]), -1);
    for (int k = 0; k < box_.count[a]; ++k)
      places_[a][static_cast<std::size_t>((box_.start[a] + k) % mesh[a])] = k;
  }
}

bool MeshPatch::holds(const MeshSize &mesh, int order, std::span<const std::uint8_t> marks) const
{
  bool all = true;
  for_each_point(mesh, order, marks,
                 [&](std::size_t a, std::size_t point) { all = all && places_[a][point] >= 0; });
  return all;
}

}    // namespace mlip_dd
