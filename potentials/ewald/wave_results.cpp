#include "potentials/ewald/wave_results.h"

namespace mlip_dd {

std::vector<WaveNumbers> wave_indices(const WaveVectors &waves)
{
  std::vector<WaveNumbers> list;
  list.reserve(static_cast<std::size_t>(waves.count));
  for (const WaveColumn &column : waves.columns)
    for (int l = column.first; l <= column.last; ++l) {
      WaveNumbers wave;
      wave.index[0] = column.h;
      wave.index[1] = column.k;
      wave.index[2] = l;
      list.push_back(wave);
    }
  return list;
}

void weigh_waves(std::vector<WaveNumbers> &waves, const Lattice &lattice, double alpha,
                 double constant, std::span<const double> factors, std::array<double, 9> *virial)
{
  constexpr std::size_t kComponents[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  for (std::size_t m = 0; m < waves.size(); ++m) {
    WaveNumbers &wave = waves[m];
    const Vector3 k = wave_vector(lattice, static_cast<int>(wave.index[0]),
                                  static_cast<int>(wave.index[1]), static_cast<int>(wave.index[2]));
    const double k_squared = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
    const double weight = constant * wave_weight(k_squared, lattice.volume, alpha);
    const double re = factors[2 * m], im = factors[2 * m + 1];
    wave.re = weight * re;
    wave.im = weight * im;
    const double energy = 0.5 * weight * (re * re + im * im);
    for (std::size_t c = 0; c < 6; ++c) {
      const auto [a, b] = kComponents[c];
      wave.strain[c] = strain_factor(k, k_squared, alpha, a, b);
      if (!virial) continue;
      (*virial)[3 * a + b] += energy * wave.strain[c];
      if (a != b) (*virial)[3 * b + a] += energy * wave.strain[c];
    }
  }
}

void add_wave_sums(const std::vector<LaneSums> &lanes, const Lattice &lattice,
                   const OwnedCharges &atoms, const CoulombSums &sums)
{
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const double charge = atoms.charges[i];
    sums.potential[i] += lanes[i].extra;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t axis = 0; axis < 3; ++axis)
        sums.forces[3 * i + a] += charge * lattice.reciprocal[axis][a] * lanes[i].force[axis];
    if (!sums.wants_node_virial) continue;
    for (std::size_t k = 0; k < 9; ++k)
      sums.node_virial[9 * i + k] += 0.5 * charge * lanes[i].moment[kMomentPlace[k]];
  }
}

}    // namespace mlip_dd
