#include "potentials/ewald/wave_vectors.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/constants.h"

namespace mlip_dd {

namespace {

// The smallest l of the half of space that is kept.
int half_space_start(int h, int k, int smallest) { return h == 0 && k == 0 ? 1 : smallest; }

void add_column(WaveVectors &waves, const WaveColumn &column)
{
  if (column.last < column.first) return;
  waves.columns.push_back(column);
  waves.count += column.last - column.first + 1;
  waves.largest[0] = std::max(waves.largest[0], column.h);
  waves.largest[1] = std::max(waves.largest[1], std::abs(column.k));
  waves.largest[2] = std::max({waves.largest[2], std::abs(column.first), std::abs(column.last)});
}

double length_squared(const Vector3 &v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

}    // namespace

Vector3 wave_vector(const Lattice &lattice, int h, int k, int l)
{
  Vector3 result{};
  for (std::size_t b = 0; b < 3; ++b)
    result[b] =
        h * lattice.reciprocal[0][b] + k * lattice.reciprocal[1][b] + l * lattice.reciprocal[2][b];
  return result;
}

WaveVectors waves_in_sphere(const Lattice &lattice, double k_cutoff)
{
  WaveVectors waves;
  // k . a = 2 pi h bounds h by the length of the cell's vector a.
  std::array<int, 3> most{};
  for (std::size_t a = 0; a < 3; ++a)
    most[a] =
        static_cast<int>(k_cutoff * std::sqrt(length_squared(lattice.vectors[a])) / (2.0 * kPi));
  const Vector3 &step = lattice.reciprocal[2];
  for (int h = 0; h <= most[0]; ++h)
    for (int k = h == 0 ? 0 : -most[1]; k <= most[1]; ++k) {
      // |base + l step| <= k_cutoff: between the roots of a quadratic in l.
      const Vector3 base = wave_vector(lattice, h, k, 0);
      const double a = length_squared(step);
      const double b = base[0] * step[0] + base[1] * step[1] + base[2] * step[2];
      const double root = b * b - a * (length_squared(base) - k_cutoff * k_cutoff);
      if (root < 0.0) continue;
      const int first = static_cast<int>(std::ceil((-b - std::sqrt(root)) / a));
      const int last = static_cast<int>(std::floor((-b + std::sqrt(root)) / a));
      add_column(waves, {h, k, half_space_start(h, k, first), last});
    }
  return waves;
}

WaveVectors waves_in_box(const std::array<int, 3> &largest)
{
  WaveVectors waves;
  for (int h = 0; h <= largest[0]; ++h)
    for (int k = h == 0 ? 0 : -largest[1]; k <= largest[1]; ++k)
      add_column(waves, {h, k, half_space_start(h, k, -largest[2]), largest[2]});
  return waves;
}

}    // namespace mlip_dd
