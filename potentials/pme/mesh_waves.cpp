#include "potentials/pme/mesh_waves.h"

#include <cmath>

#include "base/constants.h"
#include "potentials/coulomb/wave_strain.h"
#include "potentials/pair/vector4.h"
#include "potentials/pme/splines.h"

namespace mlip_dd {

namespace {

// The waves of one (y, z): k = base + index * step, for the indices along x.
struct WaveRow {
  std::int64_t count = 0;
  const double *indices = nullptr;
  const double *moduli = nullptr;
  Vector3 base{}, step{};
  double modulus = 0.0;    // of y and z
  double times = 0.0;      // how often each counts in a sum over all waves
};

MLIP_DD_INLINE double squared_length(const WaveRow &row, std::int64_t x)
{
  double squared = 0.0;
  for (std::size_t b = 0; b < 3; ++b) {
    const double k = row.base[b] + row.indices[x] * row.step[b];
    squared += k * k;
  }
  return squared;
}

void weigh(const WaveRow &row, double scale, double decay, double *weights)
{
  for (std::int64_t x = 0; x < row.count; ++x) {
    const double squared = squared_length(row, x);
    weights[x] = squared > 0.0
                     ? scale * row.modulus * row.moduli[x] * std::exp(-decay * squared) / squared
                     : 0.0;
  }
}

// `values` are real and imaginary parts by turns.
MLIP_DD_KERNEL void multiply_row(std::int64_t count, double constant, const double *weights,
                                 double *values)
{
  for (std::int64_t x = 0; x < count; ++x) {
    const double weight = constant * weights[x];
    values[2 * x] *= weight;
    values[2 * x + 1] *= weight;
  }
}

// Adds to `sums` the energies of the waves, and what each has less in its virial: 2 energy (1 / k^2
// + 1 / 4 alpha^2) k_a k_b.
MLIP_DD_KERNEL void add_row_virial(const WaveRow &row, double constant, double decay,
                                   const double *weights, const double *values, double *sums)
{
  const double factor = 0.5 * row.times * constant;
  double all = 0.0, xx = 0.0, yy = 0.0, zz = 0.0, xy = 0.0, xz = 0.0, yz = 0.0;
#pragma omp simd reduction(+ : all, xx, yy, zz, xy, xz, yz)
  for (std::int64_t m = 0; m < row.count; ++m) {
    const double x = row.base[0] + row.indices[m] * row.step[0];
    const double y = row.base[1] + row.indices[m] * row.step[1];
    const double z = row.base[2] + row.indices[m] * row.step[2];
    const double squared = x * x + y * y + z * z;
    const double re = values[2 * m], im = values[2 * m + 1];
    const double energy = factor * weights[m] * (re * re + im * im);
    // The wave k = 0 has no energy: any divisor does.
    const double less = 2.0 * energy * (1.0 / (squared > 0.0 ? squared : 1.0) + decay);
    all += energy;
    xx += less * x * x;
    yy += less * y * y;
    zz += less * z * z;
    xy += less * x * y;
    xz += less * x * z;
    yz += less * y * z;
  }
  const double found[7] = {all, xx, yy, zz, xy, xz, yz};
  for (int c = 0; c < 7; ++c) sums[c] += found[c];
}

// Calls body(row, place of its first value in the block).
template <class Body>
void for_each_row(const WaveBlock &block, const Lattice &lattice,
                  const std::array<std::vector<double>, 3> &indices,
                  const std::array<std::vector<double>, 3> &moduli, int size_z, const Body &body)
{
  const MeshBox &box = block.box;
  WaveRow row;
  row.count = box.count[0];
  row.indices = indices[0].data();
  row.moduli = moduli[0].data();
  row.step = lattice.reciprocal[0];
  std::size_t place = 0;
  for (int y = box.start[1]; y < box.start[1] + box.count[1]; ++y)
    for (int z = box.start[2]; z < box.start[2] + box.count[2]; ++z) {
      const auto m = static_cast<std::size_t>(y), n = static_cast<std::size_t>(z);
      for (std::size_t b = 0; b < 3; ++b)
        row.base[b] = indices[1][m] * lattice.reciprocal[1][b] + z * lattice.reciprocal[2][b];
      row.modulus = moduli[1][m] * moduli[2][n];
      row.times = z == 0 || 2 * z == size_z ? 1.0 : 2.0;
      body(row, place);
      place += static_cast<std::size_t>(row.count);
    }
}

}    // namespace

void MeshWaves::set_mesh(const MeshSize &mesh, int order)
{
  mesh_ = mesh;
  for (std::size_t a = 0; a < 3; ++a) {
    moduli_[a] = spline_moduli(mesh[a], order);
    indices_[a].resize(static_cast<std::size_t>(mesh[a]));
    for (int m = 0; m < mesh[a]; ++m)
      indices_[a][static_cast<std::size_t>(m)] = 2 * m <= mesh[a] ? m : m - mesh[a];
  }
  lattice_.reset();
}

void MeshWaves::set_lattice(const Lattice &lattice, double alpha, std::int64_t waves, int blocks)
{
  sums_.assign(static_cast<std::size_t>(blocks), {});
  if (lattice_ && lattice_->vectors == lattice.vectors && alpha_ == alpha) return;
  stale_ = true;
  lattice_ = lattice;
  alpha_ = alpha;
  weights_.resize(static_cast<std::size_t>(waves));
}

void MeshWaves::multiply(const WaveBlock &block, double constant)
{
  const double decay = 0.25 / (alpha_ * alpha_);
  const double scale = 4.0 * kPi / lattice_->volume;
  double *block_weights = weights_.data() + block.first;
  auto *block_values = reinterpret_cast<double *>(block.values.data());
  std::array<double, 7> sums{};
  for_each_row(block, *lattice_, indices_, moduli_, mesh_[2],
               [&](const WaveRow &row, std::size_t place) {
                 double *weights = block_weights + place, *values = block_values + 2 * place;
                 if (stale_) weigh(row, scale, decay, weights);
                 add_row_virial(row, constant, decay, weights, values, sums.data());
                 multiply_row(row.count, constant, weights, values);
               });
  sums_[static_cast<std::size_t>(block.index)] = sums;
}

std::array<double, 9> MeshWaves::take_virial()
{
  stale_ = false;
  std::array<double, 7> total{};
  for (const auto &sums : sums_)
    for (std::size_t c = 0; c < 7; ++c) total[c] += sums[c];
  constexpr std::size_t kComponents[9] = {1, 4, 5, 4, 2, 6, 5, 6, 3};
  std::array<double, 9> virial{};
  for (std::size_t c = 0; c < 9; ++c)
    virial[c] = (c % 4 == 0 ? total[0] : 0.0) - total[kComponents[c]];
  return virial;
}

void MeshWaves::strain(const WaveBlock &block, std::span<const std::complex<double>> factors,
                       std::size_t a, std::size_t b) const
{
  const double decay = 0.25 / (alpha_ * alpha_);
  const auto before = factors.subspan(static_cast<std::size_t>(block.first));
  for_each_row(
      block, *lattice_, indices_, moduli_, mesh_[2], [&](const WaveRow &row, std::size_t place) {
        for (std::int64_t x = 0; x < row.count; ++x) {
          const double squared = squared_length(row, x);
          double wave[3];
          for (std::size_t c = 0; c < 3; ++c) wave[c] = row.base[c] + row.indices[x] * row.step[c];
          const double factor =
              squared > 0.0
                  ? strain_factor(wave, squared, decay, static_cast<int>(a), static_cast<int>(b))
                  : 0.0;
          const std::size_t k = place + static_cast<std::size_t>(x);
          block.values[k] = factor * before[k];
        }
      });
}

}    // namespace mlip_dd
