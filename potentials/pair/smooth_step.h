// The switch that takes pair terms to zero at their cutoff, with two continuous derivatives.
#pragma once

#include "potentials/pair/vector4.h"

namespace mlip_dd {

struct SmoothStep {
  Double4 value;
  Double4 slope;    // by distance
};

// 1 below cutoff - width, 0 at the cutoff, and 1 - 10 x^3 + 15 x^4 - 6 x^5 between, where x runs
// from 0 to 1. `inverse_width` is 1 / width.
MLIP_DD_INLINE SmoothStep smooth_step(const Double4 &distance, double cutoff, double inverse_width)
{
  const Double4 zero = all4(0.0), one = all4(1.0);
  Double4 x = one - (cutoff - distance) * inverse_width;
  x = x > zero ? x : zero;
  x = x < one ? x : one;
  const Double4 rest = one - x;
  return {one - x * x * x * (10.0 - x * (15.0 - 6.0 * x)),
          -30.0 * x * x * rest * rest * inverse_width};
}

}    // namespace mlip_dd
