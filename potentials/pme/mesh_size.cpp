#include "potentials/pme/mesh_size.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/constants.h"
#include "base/error.h"
#include "potentials/pme/splines.h"

namespace mlip_dd {

namespace {

double length(const Vector3 &v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

MeshSize mesh_of_spacing(const Lattice &lattice, double spacing, int order)
{
  MeshSize mesh{};
  for (std::size_t a = 0; a < 3; ++a)
    mesh[a] = smooth_size(
        std::max(order, static_cast<int>(std::ceil(length(lattice.vectors[a]) / spacing))));
  return mesh;
}

// Along one axis at one sample: index over size, and the moments there.
struct Sample {
  double x = 0.0;
  AliasMoments moments;
  double neighbours = 0.0;    // w_1 / w_0 + w_-1 / w_0
};

// g[a][b] = K_a K_b (b_a . b_b): squared lengths of waves given by their indices over sizes.
using Metric = std::array<std::array<double, 3>, 3>;

Metric metric_of(const Lattice &lattice, const MeshSize &mesh)
{
  Metric metric{};
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t c = 0; c < 3; ++c)
        metric[a][b] += static_cast<double>(mesh[a]) * mesh[b] * lattice.reciprocal[a][c] *
                        lattice.reciprocal[b][c];
  return metric;
}

// (sum_s r_s^2 k_s^2 sum_t r_t^2 / P^4 - 2 k^2 / P^2 + k^2), with P = sum_s r_s^2 over all aliases
// of the three axes: the square of the spurious gradient per unit weight of the wave. Written as a
// sum of small positive parts, so that nothing cancels.
double spurious_square(const std::array<const Sample *, 3> &at, const Metric &g, double k_squared)
{
  double product = 1.0, excess = 0.0;
  for (std::size_t a = 0; a < 3; ++a) product *= 1.0 + at[a]->moments.zeroth;
  for (std::size_t a = 0; a < 3; ++a) {
    const Sample &p = *at[a], &q = *at[(a + 1) % 3], &r = *at[(a + 2) % 3];
    const double q0 = q.moments.zeroth, r0 = r.moments.zeroth;
    excess +=
        g[a][a] * (p.moments.second * (1.0 + q0) * (1.0 + r0) + p.x * p.x * (q0 + r0 + q0 * r0));
    excess += 2.0 * g[a][(a + 1) % 3] *
              ((p.x * q.moments.first + q.x * p.moments.first + p.moments.first * q.moments.first) *
                   (1.0 + r0) +
               p.x * q.x * r0);
  }
  const double p = product - 1.0;
  return (excess + k_squared * p * (1.0 + 3.0 * p + p * p)) / (product * product * product);
}

}    // namespace

int smooth_size(int smallest)
{
  for (int size = std::max(smallest, 1);; ++size) {
    int rest = size;
    for (const int prime : {2, 3, 5, 7})
      while (rest % prime == 0) rest /= prime;
    if (rest == 1) return size;
  }
}

double mesh_error(const Lattice &lattice, const ChargeTotals &totals, double alpha,
                  const MeshSize &mesh, int order)
{
  // The sum over waves as an integral by the midpoint rule, over those that have not decayed.
  constexpr int kSamples = 32;
  constexpr double kDecayed = 9.0;    // exp(-(9 alpha)^2 / 2 alpha^2) is 1e-18
  std::array<std::array<Sample, kSamples>, 3> samples;
  double waves_per_sample = 1.0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double farthest =
        std::min(0.5, kDecayed * alpha * length(lattice.vectors[a]) / (2.0 * kPi * mesh[a]));
    waves_per_sample *= 2.0 * farthest * mesh[a] / kSamples;
    for (int i = 0; i < kSamples; ++i) {
      const double x = farthest * ((2.0 * i + 1.0) / kSamples - 1.0);
      samples[a][static_cast<std::size_t>(i)] = {
          x, alias_moments(x, order),
          std::pow(x / (x + 1.0), order) + std::pow(x / (x - 1.0), order)};
    }
  }
  const Metric g = metric_of(lattice, mesh);
  double sum = 0.0;
  std::array<double, 3> self{};
  for (int i = kSamples / 2; i < kSamples; ++i)    // the other half is its mirror image
    for (int j = 0; j < kSamples; ++j)
      for (int l = 0; l < kSamples; ++l) {
        const std::array<const Sample *, 3> at{&samples[0][static_cast<std::size_t>(i)],
                                               &samples[1][static_cast<std::size_t>(j)],
                                               &samples[2][static_cast<std::size_t>(l)]};
        double k_squared = 0.0;
        for (std::size_t a = 0; a < 3; ++a)
          for (std::size_t b = 0; b < 3; ++b) k_squared += g[a][b] * at[a]->x * at[b]->x;
        const double weight =
            4.0 * kPi / lattice.volume * std::exp(-0.25 * k_squared / (alpha * alpha)) / k_squared;
        if (weight == 0.0) continue;
        sum += 2.0 * weight * weight * spurious_square(at, g, k_squared);
        for (std::size_t a = 0; a < 3; ++a) self[a] += weight * at[a]->neighbours;
      }
  double nearest_lacking = INFINITY;
  for (std::size_t a = 0; a < 3; ++a)
    nearest_lacking = std::min(nearest_lacking, kPi * mesh[a] / length(lattice.vectors[a]));
  const double lacking = wave_vector_error(totals, lattice.volume, alpha, nearest_lacking);
  const double atoms = std::max(totals.atoms, 1.0);
  double square = totals.charge_squared * totals.charge_squared / atoms * sum * waves_per_sample +
                  lacking * lacking;
  // The force of a charge on itself, which depends on its place between mesh points as a sine along
  // each axis: all waves add up in phase.
  for (std::size_t a = 0; a < 3; ++a) {
    const double amplitude = totals.charge_squared / atoms * self[a] * waves_per_sample;
    square += 2.0 * g[a][a] * amplitude * amplitude;
  }
  return std::sqrt(square);
}

MeshSize choose_mesh(const Lattice &lattice, const ChargeTotals &totals, double alpha, int order,
                     double accuracy)
{
  // Nearly without rounding to smooth sizes, the error falls monotonously with the spacing.
  const auto good = [&](const MeshSize &mesh) {
    return mesh_error(lattice, totals, alpha, mesh, order) <= share_of(accuracy);
  };
  const auto points = [](const MeshSize &mesh) {
    return static_cast<double>(mesh[0]) * mesh[1] * mesh[2];
  };
  constexpr double kMostPoints = 2147483648.0;
  double coarse = 3.0 / alpha, fine = coarse;
  while (!good(mesh_of_spacing(lattice, fine, order))) {
    coarse = fine;
    fine *= 0.7;
    if (points(mesh_of_spacing(lattice, fine, order)) > kMostPoints) {
      std::ostringstream found;
      found << accuracy << " with spline order " << order << " and alpha " << alpha << " / A";
      throw Error({"the accuracy would need a mesh of more than 2^31 points", found.str(),
                   "/model/parameters/accuracy",
                   "Ask for less accuracy, raise \"order\" (up to 8) or the cutoff"});
    }
  }
  constexpr int kHalvings = 8;    // to 0.2 % of the spacing
  for (int k = 0; k < kHalvings && coarse > fine; ++k) {
    const double middle = std::sqrt(coarse * fine);
    (good(mesh_of_spacing(lattice, middle, order)) ? fine : coarse) = middle;
  }
  return mesh_of_spacing(lattice, fine, order);
}

}    // namespace mlip_dd
