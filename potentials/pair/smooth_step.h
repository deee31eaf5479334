// The switch that takes pair terms to zero at their cutoff, with two continuous derivatives.
#pragma once

#include "potentials/pair/number.h"

namespace mlip_dd {

template <class Number>
struct SmoothStep {
  Number value;
  Number slope;    // by distance
};

// 1 below cutoff - width, 0 at the cutoff, and 1 - 10 x^3 + 15 x^4 - 6 x^5 between, where x runs
// from 0 to 1. `inverse_width` is 1 / width.
template <class Number>
MLIP_DD_TERM SmoothStep<Number> smooth_step(const Number &distance, double cutoff,
                                            double inverse_width)
{
  const Number zero = NumberOf<Number>::all(0.0), one = NumberOf<Number>::all(1.0);
  Number x = one - (cutoff - distance) * inverse_width;
  x = x > zero ? x : zero;
  x = x < one ? x : one;
  const Number rest = one - x;
  return {one - x * x * x * (10.0 - x * (15.0 - 6.0 * x)),
          -30.0 * x * x * rest * rest * inverse_width};
}

}    // namespace mlip_dd
