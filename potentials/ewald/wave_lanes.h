// Ewald's reciprocal sum for the lanes of a GPU: each wave over atoms, then each atom over waves.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/constants.h"
#include "potentials/coulomb/wave_strain.h"
#include "potentials/ewald/wave_terms.h"
#include "potentials/pair/lanes.h"

namespace mlip_dd {

// A wave vector by its indices, with its structure factor times its weight, eV/e, and the factors
// of its energy in the virial, xx yy zz xy xz yz.
struct WaveNumbers {
  double index[3] = {};
  double re = 0.0, im = 0.0;
  double strain[6] = {};
};

struct WavePhase {
  double cosine, sine;
};

MLIP_DD_TERM WavePhase wave_phase(const double *index, const double *fractional)
{
  const double turns =
      index[0] * fractional[0] + index[1] * fractional[1] + index[2] * fractional[2];
  const double angle = 2.0 * kPi * (turns - std::floor(turns));
  return {std::cos(angle), std::sin(angle)};
}

// Of each wave: energy and extra become real and imaginary part of the sum of q exp(i k r).
struct FactorLanes {
  const WaveNumbers *waves = nullptr;
  const double *fractional = nullptr;    // [n_atoms, 3]
  const double *charges = nullptr;       // [n_atoms]
  std::int64_t n_atoms = 0;

  MLIP_DD_TERM LaneSums operator()(std::int64_t wave, int lane) const
  {
    LaneSums sums;
    for (std::int64_t i = lane; i < n_atoms; i += kLanesPerAtom) {
      const WavePhase phase = wave_phase(waves[wave].index, fractional + 3 * i);
      sums.energy += charges[i] * phase.cosine;
      sums.extra += charges[i] * phase.sine;
    }
    return sums;
  }
};

// Of each atom: extra is the potential, the force minus its derivative by the fractional
// coordinates over 2 pi, and the moment the potential with each wave times its strain factors.
struct WaveLanes {
  const WaveNumbers *waves = nullptr;
  std::int64_t n_waves = 0;
  const double *fractional = nullptr;

  MLIP_DD_TERM LaneSums operator()(std::int64_t atom, int lane) const
  {
    LaneSums sums;
    for (std::int64_t m = lane; m < n_waves; m += kLanesPerAtom) {
      const WaveNumbers &wave = waves[m];
      const WavePhase phase = wave_phase(wave.index, fractional + 3 * atom);
      const double value = wave.re * phase.cosine + wave.im * phase.sine;
      const double slope = wave.re * phase.sine - wave.im * phase.cosine;
      sums.extra += value;
      for (int a = 0; a < 3; ++a) sums.force[a] += wave.index[a] * slope;
      for (int k = 0; k < 6; ++k) sums.moment[k] += wave.strain[k] * value;
    }
    return sums;
  }
};

// Between the two: sets what follows from a wave's structure factor, summed over ranks, and the
// virial of its energy.
struct WeighItems {
  const double *factors = nullptr;    // [waves, 2], real and imaginary parts
  double reciprocal[3][3] = {};       // of the lattice, 1/Angstrom
  double volume = 0.0, alpha = 0.0;
  double constant = 0.0;    // eV Angstrom / e^2
  WaveNumbers *waves = nullptr;
  double *virials = nullptr;    // [waves, 9], eV

  MLIP_DD_TERM void operator()(std::int64_t m) const
  {
    WaveNumbers &wave = waves[m];
    double k[3], squared = 0.0;
    for (int b = 0; b < 3; ++b) {
      k[b] = wave.index[0] * reciprocal[0][b] + wave.index[1] * reciprocal[1][b] +
             wave.index[2] * reciprocal[2][b];
      squared += k[b] * k[b];
    }
    const double weight = constant * wave_weight(squared, volume, alpha);
    const double re = factors[2 * m], im = factors[2 * m + 1];
    wave.re = weight * re;
    wave.im = weight * im;
    const double energy = 0.5 * weight * (re * re + im * im);
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) {
        const double factor = strain_factor(k, squared, 0.25 / (alpha * alpha), a, b);
        wave.strain[moment_place(3 * a + b)] = factor;
        virials[9 * m + 3 * a + b] = energy * factor;
      }
  }
};

// After them: what WaveLanes found of an atom is added to its sums.
struct WaveResultItems {
  const LaneSums *lanes = nullptr;
  const double *charges = nullptr;
  double reciprocal[3][3] = {};
  double *potential = nullptr, *forces = nullptr;
  double *node_virial = nullptr;    // null unless wanted

  MLIP_DD_TERM void operator()(std::int64_t i) const
  {
    const LaneSums &found = lanes[i];
    potential[i] += found.extra;
    for (int a = 0; a < 3; ++a)
      for (int axis = 0; axis < 3; ++axis)
        forces[3 * i + a] += charges[i] * reciprocal[axis][a] * found.force[axis];
    if (!node_virial) return;
    for (int k = 0; k < 9; ++k)
      node_virial[9 * i + k] += 0.5 * charges[i] * found.moment[moment_place(k)];
  }
};

}    // namespace mlip_dd
