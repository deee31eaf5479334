#include "potentials/coulomb/lattice.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/constants.h"
#include "base/error.h"

namespace mlip_dd {

namespace {

Vector3 cross(const Vector3 &a, const Vector3 &b)
{
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vector3 &a, const Vector3 &b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

}    // namespace

Lattice make_lattice(const Cell &cell, int axis, double stretch)
{
  Lattice lattice;
  lattice.origin = cell.origin;
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) lattice.vectors[a][b] = cell.vectors[3 * a + b];
  for (double &component : lattice.vectors[static_cast<std::size_t>(axis)]) component *= stretch;

  const auto &v = lattice.vectors;
  const double determinant = dot(v[0], cross(v[1], v[2]));
  lattice.volume = std::abs(determinant);
  if (!(lattice.volume > 0.0) || !std::isfinite(lattice.volume))
    throw Error({"the periodic cell has no volume", std::to_string(determinant) + " A^3",
                 "the simulation box", "Give three box vectors that span a volume"});
  for (std::size_t a = 0; a < 3; ++a) {
    const Vector3 normal = cross(v[(a + 1) % 3], v[(a + 2) % 3]);
    for (std::size_t b = 0; b < 3; ++b)
      lattice.reciprocal[a][b] = 2.0 * kPi * normal[b] / determinant;
    lattice.heights[a] = lattice.volume / std::sqrt(dot(normal, normal));
  }
  return lattice;
}

double relative_change(const Lattice &before, const Lattice &now)
{
  double largest = 0.0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double length = std::sqrt(dot(before.vectors[a], before.vectors[a]));
    for (std::size_t b = 0; b < 3; ++b)
      largest = std::max(largest, std::abs(now.vectors[a][b] - before.vectors[a][b]) / length);
  }
  return largest;
}

}    // namespace mlip_dd
