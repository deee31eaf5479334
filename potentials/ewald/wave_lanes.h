// Ewald's reciprocal sum for the lanes of a GPU: each wave over atoms, then each atom over waves.
#pragma once

#include <cmath>
#include <cstdint>

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
  constexpr double kTwoPi = 6.283185307179586;
  const double turns =
      index[0] * fractional[0] + index[1] * fractional[1] + index[2] * fractional[2];
  const double angle = kTwoPi * (turns - std::floor(turns));
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

// On the current GPU: sums [n], of waves or of atoms, and everything that `work` points to, lie
// there.
void launch_waves(const FactorLanes &work, std::int64_t n, LaneSums *sums);
void launch_waves(const WaveLanes &work, std::int64_t n, LaneSums *sums);

}    // namespace mlip_dd
