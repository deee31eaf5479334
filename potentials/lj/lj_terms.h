// The Lennard-Jones energy of a pair and its derivative.
#pragma once

#include "potentials/pair/smooth_step.h"

namespace mlip_dd {

// u(r) = repulsion / r^12 - attraction / r^6 - shift, below the cutoff.
struct LjPair {
  double repulsion = 0.0;     // 4 epsilon sigma^12, eV Angstrom^12
  double attraction = 0.0;    // 4 epsilon sigma^6, eV Angstrom^6
  double cutoff = 0.0;        // Angstrom
  double shift = 0.0;         // eV
};

template <class Number>
struct LjTerm {
  Number energy, slope_over_r;    // eV; du/dr / r, eV/Angstrom^2
};

// `squared` in Angstrom^2. Switched: smoothly to zero over 1 / inverse_width before the cutoff.
template <bool Switched, class Number>
MLIP_DD_TERM LjTerm<Number> lj_term(const LjPair &pair, double inverse_width, const Number &squared)
{
  using Of = NumberOf<Number>;
  const auto inside = squared < Of::all(pair.cutoff * pair.cutoff);
  const Number inverse2 = Of::where(inside, 1.0 / squared);
  const Number inverse6 = inverse2 * inverse2 * inverse2;
  LjTerm<Number> term;
  term.energy = inverse6 * (pair.repulsion * inverse6 - pair.attraction);
  term.slope_over_r =
      inverse2 * inverse6 * (6.0 * pair.attraction - 12.0 * pair.repulsion * inverse6);
  if constexpr (Switched) {
    const Number distance = Of::root(squared);
    const SmoothStep<Number> step = smooth_step(distance, pair.cutoff, inverse_width);
    term.slope_over_r =
        term.slope_over_r * step.value + Of::where(inside, term.energy * step.slope / distance);
    term.energy = term.energy * step.value;
  } else {
    term.energy -= Of::where(inside, Of::all(pair.shift));
  }
  return term;
}

}    // namespace mlip_dd
