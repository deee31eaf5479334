// Cardinal B-splines: weights of a charge on mesh points, and what they do to each wave. No torch.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "potentials/pair/number.h"

namespace mlip_dd {

inline constexpr int kSmallestOrder = 4;
inline constexpr int kLargestOrder = 8;

// Where a charge stands along one axis of a mesh: the point before it, and how far beyond.
struct AxisPlace {
  int point;    // in [0, size)
  double offset;
};
MLIP_DD_TERM AxisPlace axis_place(double fractional, int size)
{
  const double u = (fractional - std::floor(fractional)) * size;
  const double below = std::floor(u);
  // A fraction may round up to 1; one that is not a number has no index.
  return {below > 0.0 && below < size ? static_cast<int>(below) : 0, u - below};
}

// For a charge `offset` in [0, 1) beyond a mesh point: weights of the points from Order - 1 before
// that one up to it, and their derivatives by the offset.
template <int Order>
MLIP_DD_TERM void spline_weights(double offset, double *weights, double *derivatives)
{
  // M_k(offset + j) for j = 0 .. k - 1 stands in m[j]; M_k(x) is made of M_{k-1}(x), M_{k-1}(x-1).
  double m[Order] = {offset, 1.0 - offset};
  for (int k = 3; k <= Order; ++k) {
    if (k == Order)
      for (int j = Order - 1; j >= 0; --j)
        derivatives[Order - 1 - j] = (j < Order - 1 ? m[j] : 0.0) - (j > 0 ? m[j - 1] : 0.0);
    const double scale = 1.0 / (k - 1);
    m[k - 1] = 0.0;
    for (int j = k - 1; j > 0; --j)
      m[j] = scale * ((offset + j) * m[j] + (k - offset - j) * m[j - 1]);
    m[0] *= scale * offset;
  }
  for (int j = 0; j < Order; ++j) weights[Order - 1 - j] = m[j];
}

// A wave of index m on a mesh of K points is seen by the spline as itself with amplitude w_0, and
// as the waves m + s K with amplitudes w_s = (sin(pi m / K) / (pi (m / K + s)))^order.

// Per index m = 0 .. K - 1 (those above K / 2 stand for m - K): w_0^2 / (sum_s w_s^2)^2, the factor
// for which the mesh energy of random charges is nearest to the exact one.
std::vector<double> spline_moduli(int size, int order);

// sum over s != 0 of (w_s / w_0)^2 (x + s)^power for x = m / K in [-1/2, 1/2], power 0, 1, 2.
struct AliasMoments {
  double zeroth = 0.0, first = 0.0, second = 0.0;
};
AliasMoments alias_moments(double x, int order);

}    // namespace mlip_dd
