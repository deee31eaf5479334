// The screened Coulomb energy of a pair from a table of polynomials.
#pragma once

#include <cstdint>

#include "potentials/pair/number.h"

namespace mlip_dd {

inline constexpr int kScreenedTerms = 8;
// Of an interval of (alpha r)^2. The first term left out is below (width / 2)^8 / (8! 17) of the
// table's largest value, 2e-16; of the derivative, (width / 2)^7 / (7! 17), 3e-14.
inline constexpr double kScreenedWidth = 0.1;

struct ScreenedPair {
  double value, derivative;    // erfc(alpha r) / r; the derivative of that by r, over r
};

// `table` [intervals, kScreenedTerms] of ScreenedTable; `squared` distances within its cutoff.
MLIP_DD_TERM ScreenedPair screened_pair(const double *table, double alpha_squared, double squared)
{
  const double u = alpha_squared * squared;
  const auto interval = static_cast<std::int32_t>(u * (1.0 / kScreenedWidth));
  const double *c = table + kScreenedTerms * interval;
  const double x = u - (interval + 0.5) * kScreenedWidth;
  double value = c[kScreenedTerms - 1], slope = 0.0;
  for (int k = kScreenedTerms - 2; k >= 0; --k) {
    slope = slope * x + value;
    value = value * x + c[k];
  }
  const double inverse = 1.0 / NumberOf<double>::root(squared);
  return {inverse - value, -(inverse * inverse * inverse + 2.0 * alpha_squared * slope)};
}

}    // namespace mlip_dd
