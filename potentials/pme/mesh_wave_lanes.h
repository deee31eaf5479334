// What the reciprocal sum does to the waves of a whole mesh, as MeshWaves, for the threads of a
// GPU.
#pragma once

#include <cmath>
#include <cstdint>

#include "potentials/coulomb/wave_strain.h"
#include "potentials/pair/lanes.h"

namespace mlip_dd {

// All waves of a real mesh, row-major; of z, the indices in [0, K_z / 2] alone are kept.
struct WaveGrid {
  int mesh[3] = {};
  double reciprocal[3][3] = {};    // of the lattice, 1/Angstrom
  double decay = 0.0;              // 1 / 4 alpha^2, Angstrom^2

  MLIP_DD_TERM int count_z() const { return mesh[2] / 2 + 1; }
  MLIP_DD_TERM std::int64_t rows() const { return static_cast<std::int64_t>(mesh[0]) * mesh[1]; }

  // Sets the wave vector of (x, y) = row, z, and gives its square.
  MLIP_DD_TERM double vector(std::int64_t row, int z, double *k) const
  {
    const int x = static_cast<int>(row / mesh[1]), y = static_cast<int>(row % mesh[1]);
    const int index[3] = {2 * x <= mesh[0] ? x : x - mesh[0], 2 * y <= mesh[1] ? y : y - mesh[1],
                          z};
    double squared = 0.0;
    for (int b = 0; b < 3; ++b) {
      k[b] =
          index[0] * reciprocal[0][b] + index[1] * reciprocal[1][b] + index[2] * reciprocal[2][b];
      squared += k[b] * k[b];
    }
    return squared;
  }
};

// Of each row (x, y): multiplies the waves by their weights; energy becomes that of the waves, and
// moment what they have less in their virial.
struct MeshWaveLanes {
  WaveGrid grid;
  double scale = 0.0;                // 4 pi constant / V
  const double *moduli = nullptr;    // of the splines: [K_x], [K_y], [K_z], one after the other
  double *values = nullptr;          // complex

  MLIP_DD_TERM LaneSums operator()(std::int64_t row, int lane) const
  {
    LaneSums sums;
    const double of_row = moduli[row / grid.mesh[1]] * moduli[grid.mesh[0] + row % grid.mesh[1]];
    const double *moduli_z = moduli + grid.mesh[0] + grid.mesh[1];
    double *of_waves = values + 2 * row * grid.count_z();
    for (int z = lane; z < grid.count_z(); z += kLanesPerAtom) {
      double k[3];
      const double squared = grid.vector(row, z, k);
      double *value = of_waves + 2 * z;
      const double weight =
          squared > 0.0 ? scale * of_row * moduli_z[z] * std::exp(-grid.decay * squared) / squared
                        : 0.0;
      const double times = z == 0 || 2 * z == grid.mesh[2] ? 1.0 : 2.0;
      const double energy = 0.5 * times * weight * (value[0] * value[0] + value[1] * value[1]);
      value[0] *= weight;
      value[1] *= weight;
      if (!(squared > 0.0)) continue;
      const double less = 2.0 * energy * (1.0 / squared + grid.decay);
      sums.energy += energy;
      sums.moment[0] += less * k[0] * k[0];
      sums.moment[1] += less * k[1] * k[1];
      sums.moment[2] += less * k[2] * k[2];
      sums.moment[3] += less * k[0] * k[1];
      sums.moment[4] += less * k[0] * k[2];
      sums.moment[5] += less * k[1] * k[2];
    }
    return sums;
  }
};

// Of each wave: `to` = `from` times its strain_factor().
struct StrainItems {
  WaveGrid grid;
  int a = 0, b = 0;
  const double *from = nullptr;    // complex
  double *to = nullptr;

  MLIP_DD_TERM void operator()(std::int64_t wave) const
  {
    double k[3];
    const double squared =
        grid.vector(wave / grid.count_z(), static_cast<int>(wave % grid.count_z()), k);
    const double factor = squared > 0.0 ? strain_factor(k, squared, grid.decay, a, b) : 0.0;
    for (int part = 0; part < 2; ++part) to[2 * wave + part] = factor * from[2 * wave + part];
  }
};

}    // namespace mlip_dd
