// Weight of one wave of an Ewald sum.
#pragma once

#include <cmath>

#include "base/constants.h"
#include "potentials/pair/number.h"

namespace mlip_dd {

// 8 pi / V exp(-k^2 / 4 alpha^2) / k^2: the factor 2 is for -k.
MLIP_DD_TERM double wave_weight(double k_squared, double volume, double alpha)
{
  return 8.0 * kPi / volume * std::exp(-0.25 * k_squared / (alpha * alpha)) / k_squared;
}

}    // namespace mlip_dd
