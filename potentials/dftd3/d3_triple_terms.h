// What DFT-D3's three-body term says of three atoms at their distances, beside their C6.
#pragma once

#include "potentials/pair/smooth_step.h"

namespace mlip_dd {

// Sides are given squared: a and b from one of the atoms to the others, c between those.
template <class Number>
struct D3TripleTerm {
  Number energy;
  Number by_a, by_b;    // derivatives by a and b, times a and b
};

// `strength` is sqrt(C6 C6 C6) / (a b c)^(3/2), `inverse` 1 / (a b c), and `power` the product of
// the sides' (R / r)^(16/3).
template <class Number>
MLIP_DD_TERM D3TripleTerm<Number> triple_term(const Number &a, const Number &b, const Number &c,
                                              const Number &inverse, const Number &strength,
                                              const Number &power)
{
  const Number damped = 1.0 / (1.0 + 6.0 * power);
  const Number scale = strength * damped;
  // 8 r^6 times the cosines are products of these.
  const Number u = a + b - c, v = a + c - b, w = b + c - a;
  const Number part = 0.375 * inverse;
  const Number angular = part * u * v * w;
  const Number radial = (1.0 + angular) * (16.0 / 6.0 * (1.0 - damped) - 1.5) - angular;
  return {scale * (1.0 + angular), scale * (radial + part * a * (v * w + u * (w - v))),
          scale * (radial + part * b * (u * v + w * (v - u)))};
}

// The switch of a side; its slope is the derivative by the squared side, times that.
template <class Number>
MLIP_DD_TERM SmoothStep<Number> triple_step(double cutoff, double width, const Number &squared)
{
  const Number distance = NumberOf<Number>::root(squared);
  const SmoothStep<Number> step = smooth_step(distance, cutoff, 1.0 / width);
  return {step.value, 0.5 * distance * step.slope};
}

// `a` and `b` from triple_step, `c` the switch of the third side.
template <class Number>
MLIP_DD_TERM D3TripleTerm<Number> switched(const D3TripleTerm<Number> &term,
                                           const SmoothStep<Number> &a, const SmoothStep<Number> &b,
                                           const Number &c)
{
  return {term.energy * (a.value * b.value * c),
          c * b.value * (a.value * term.by_a + a.slope * term.energy),
          c * a.value * (b.value * term.by_b + b.slope * term.energy)};
}

}    // namespace mlip_dd
