// What DFT-D3 says of a pair of atoms at a distance, beside its C6.
#pragma once

#include "potentials/pair/smooth_step.h"

namespace mlip_dd {

// The energy of a pair is -C6 (s6 f6(r) + s8 ratio f8(r)), where ratio = C8 / C6.
struct D3PairNumbers {
  double counting_radius = 0.0;    // R of the counting function, Angstrom
  double s6 = 0.0;
  double s8_ratio = 0.0;    // s8 C8 / C6, Angstrom^2
  // Becke-Johnson: R0^6 and R0^8. Zero damping: (sr6 R0)^2 and (sr8 R0)^2.
  double damping6 = 0.0, damping8 = 0.0;
  double three_body_radius2 = 0.0;    // (4/3 R0)^2, Angstrom^2
};

struct D3Ranges {    // Angstrom; widths of switches, 0: none
  double cutoff = 0.0, cn_cutoff = 0.0, switch_width = 0.0, cn_switch_width = 0.0;
};

template <class Number>
struct D3Term {
  Number value, slope_over_r;    // the second: derivative by r, over r
};

inline constexpr double kCountingSteepness = 16.0;    // k1 of Grimme et al. (2010), eq. 15

// How much of a neighbour each pair counts: from 1 when close to a small rest far away.
template <class Number>
MLIP_DD_TERM D3Term<Number> counting(const D3Ranges &ranges, const D3PairNumbers &pair,
                                     const Number &squared)
{
  using Of = NumberOf<Number>;
  const auto inside = squared < Of::all(ranges.cn_cutoff * ranges.cn_cutoff);
  const Number inverse2 = 1.0 / squared;
  const Number inverse = Of::root(inverse2);
  const Number power =
      Of::exponential(kCountingSteepness - kCountingSteepness * pair.counting_radius * inverse);
  const Number count = 1.0 / (1.0 + power);
  const Number slope_over_r =
      -kCountingSteepness * pair.counting_radius * inverse2 * inverse * power * count * count;
  if (ranges.cn_switch_width == 0.0)
    return {Of::where(inside, count), Of::where(inside, slope_over_r)};
  const SmoothStep<Number> step =
      smooth_step(squared * inverse, ranges.cn_cutoff, 1.0 / ranges.cn_switch_width);
  return {Of::where(inside, count * step.value),
          Of::where(inside, slope_over_r * step.value + count * step.slope * inverse)};
}

template <class Number>
MLIP_DD_TERM D3Term<Number> becke_johnson(const D3PairNumbers &pair, const Number &squared)
{
  const Number r4 = squared * squared, r6 = r4 * squared;
  const Number f6 = 1.0 / (r6 + pair.damping6), f8 = 1.0 / (r6 * squared + pair.damping8);
  return {pair.s6 * f6 + pair.s8_ratio * f8,
          -6.0 * pair.s6 * r4 * f6 * f6 - 8.0 * pair.s8_ratio * r6 * f8 * f8};
}

template <class Number>
MLIP_DD_TERM D3Term<Number> zero_damping(const D3PairNumbers &pair, const Number &squared)
{
  const Number inverse2 = 1.0 / squared;
  const Number inverse6 = inverse2 * inverse2 * inverse2;
  const Number u = pair.damping6 * inverse2, v = pair.damping8 * inverse2;
  const Number u2 = u * u, v2 = v * v, v4 = v2 * v2;
  const Number steep6 = 6.0 * u2 * u2 * u2 * u;    // 6 (r / sr6 R0)^-14
  const Number steep8 = 6.0 * v4 * v4;             // 6 (r / sr8 R0)^-16
  const Number damped6 = 1.0 / (1.0 + steep6), damped8 = 1.0 / (1.0 + steep8);
  const Number part6 = pair.s6 * inverse6 * damped6;
  const Number part8 = pair.s8_ratio * inverse6 * inverse2 * damped8;
  return {part6 + part8, inverse2 * (part6 * (14.0 * steep6 * damped6 - 6.0) +
                                     part8 * (16.0 * steep8 * damped8 - 8.0))};
}

// s6 f6 + s8 ratio f8 of a pair, zero beyond the cutoff.
template <bool Zero, class Number>
MLIP_DD_TERM D3Term<Number> damped(const D3Ranges &ranges, const D3PairNumbers &pair,
                                   const Number &squared)
{
  using Of = NumberOf<Number>;
  const auto inside = squared < Of::all(ranges.cutoff * ranges.cutoff);
  D3Term<Number> term;
  if constexpr (Zero)
    term = zero_damping(pair, squared);
  else
    term = becke_johnson(pair, squared);
  if (ranges.switch_width > 0.0) {
    const Number distance = Of::root(squared);
    const SmoothStep<Number> step = smooth_step(distance, ranges.cutoff, 1.0 / ranges.switch_width);
    term = {term.value * step.value,
            term.slope_over_r * step.value + term.value * step.slope / distance};
  }
  return {Of::where(inside, term.value), Of::where(inside, term.slope_over_r)};
}

}    // namespace mlip_dd
