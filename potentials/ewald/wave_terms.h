// Weight and virial of one wave of an Ewald sum.
#pragma once

#include <cmath>

#include "potentials/pair/number.h"

namespace mlip_dd {

// 8 pi / V exp(-k^2 / 4 alpha^2) / k^2: the factor 2 is for -k.
MLIP_DD_TERM double wave_weight(double k_squared, double volume, double alpha)
{
  constexpr double kEightPi = 25.132741228718345;
  return kEightPi / volume * std::exp(-0.25 * k_squared / (alpha * alpha)) / k_squared;
}

// Derivative of a wave's energy by the strain is minus the energy times this tensor.
MLIP_DD_TERM double strain_factor(const double *k, double k_squared, double alpha, int a, int b)
{
  return (a == b) - 2.0 * k[a] * k[b] * (1.0 / k_squared + 0.25 / (alpha * alpha));
}

}    // namespace mlip_dd
