#include "potentials/pme/splines.h"

#include <cmath>

#include "base/constants.h"

namespace mlip_dd {

namespace {

// Terms fall as s^(-2 order): the first left out is 1e-8 of the largest at order 4, itself small.
constexpr int kAliases = 6;

double power(double x, int exponent)
{
  double result = 1.0;
  for (int k = 0; k < exponent; ++k) result *= x;
  return result;
}

}    // namespace

AliasMoments alias_moments(double x, int order)
{
  AliasMoments moments;
  for (int s = -kAliases; s <= kAliases; ++s) {
    if (s == 0) continue;
    const double ratio = power(x / (x + s), 2 * order);
    moments.zeroth += ratio;
    moments.first += ratio * (x + s);
    moments.second += ratio * (x + s) * (x + s);
  }
  return moments;
}

std::vector<double> spline_moduli(int size, int order)
{
  std::vector<double> moduli(static_cast<std::size_t>(size));
  for (int m = 0; m < size; ++m) {
    const double x = static_cast<double>(2 * m <= size ? m : m - size) / size;
    const double sinc = m == 0 ? 1.0 : std::sin(kPi * x) / (kPi * x);
    const double others = 1.0 + alias_moments(x, order).zeroth;
    // w_0^2 / (w_0^2 others)^2
    moduli[static_cast<std::size_t>(m)] = 1.0 / (power(sinc * sinc, order) * others * others);
  }
  return moduli;
}

}    // namespace mlip_dd
