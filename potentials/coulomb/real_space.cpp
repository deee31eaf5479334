#include "potentials/coulomb/real_space.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "potentials/coulomb/screened_table.h"
#include "potentials/pair/row_blocks.h"
#include "potentials/pair/wide.h"

namespace mlip_dd {

namespace {

constexpr std::size_t kRowSums = 10;    // potential, three of the force, six of the virial

// Sums over pairs [begin, end) of one receiver, each over that charge; `from` has x, y, z, charge,
// value and derivative of each pair. The virial counts `share` times.
MLIP_DD_WIDE void add_pairs(std::size_t begin, std::size_t end, const double *const *from,
                            double share, double *sums)
{
  const double *px = from[0], *py = from[1], *pz = from[2], *charge = from[3], *value = from[4],
               *derivative = from[5];
  double potential = 0.0, fx = 0.0, fy = 0.0, fz = 0.0;
  double xx = 0.0, yy = 0.0, zz = 0.0, xy = 0.0, xz = 0.0, yz = 0.0;
#pragma omp simd reduction(+ : potential, fx, fy, fz, xx, yy, zz, xy, xz, yz)
  for (std::size_t m = begin; m < end; ++m) {
    const double x = px[m], y = py[m], z = pz[m];
    const double slope = charge[m] * derivative[m];
    potential += charge[m] * value[m];
    fx += slope * x;
    fy += slope * y;
    fz += slope * z;
    xx += slope * x * x;
    yy += slope * y * y;
    zz += slope * z * z;
    xy += slope * x * y;
    xz += slope * x * z;
    yz += slope * y * z;
  }
  const double moments[6] = {xx, yy, zz, xy, xz, yz};
  sums[0] += potential;
  sums[1] += fx;
  sums[2] += fy;
  sums[3] += fz;
  for (int c = 0; c < 6; ++c) sums[4 + c] += share * moments[c];
}

// Rows that stand as numbers, and their charges.
MLIP_DD_WIDE void look_up(std::size_t n, const double *row, const double *charges,
                          std::int32_t *rows, double *found)
{
  for (std::size_t m = 0; m < n; ++m) {
    rows[m] = static_cast<std::int32_t>(row[m]);
    found[m] = charges[rows[m]];
  }
}

class CpuRealSpace final : public RealSpaceSum {
 public:
  explicit CpuRealSpace(int threads) : threads_(threads), shares_(static_cast<std::size_t>(threads))
  {}

  void set_parameters(double alpha, double cutoff) override
  {
    if (alpha == alpha_ && cutoff == cutoff_) return;
    table_ = ScreenedTable(alpha, cutoff);
    alpha_ = alpha;
    cutoff_ = cutoff;
  }

  void set_pairs(const PairView &rows) override;

  void add(const PairView &rows, const at::Tensor &charges, double constant,
           const CoulombTensors &sums) override;

 private:
  struct Pairs {
    std::vector<std::int64_t> offsets;    // [n_owned + 1]
    std::vector<std::int32_t> atoms;      // host atoms of the senders
  };
  struct Near {    // the pairs of one receiver that are within the cutoff
    std::vector<double> x, y, z, squared, row, charge, value, derivative;
    std::vector<std::int32_t> rows;
    void resize(std::size_t n);
  };
  // What one thread has for itself: its rows' pairs end at rows of others, too.
  struct Share {
    Near near;
    std::vector<double> potential, forces, node_virial;
    std::array<double, 9> virial{};
  };
  std::size_t find_near(const Pairs &pairs, std::size_t row, const Packed4 *atoms,
                        const double *receiver, Near &near, std::size_t found) const;
  void add_rows(std::size_t begin, std::size_t end, const PairView &rows, const double *charges,
                double constant, Near &near, const CoulombSums &sums) const;

  double alpha_ = 0.0;
  double cutoff_ = 0.0;
  ScreenedTable table_;
  Pairs mutual_;                 // both ends owned here, each pair once
  Pairs one_sided_;              // the sender is a halo row, or an image of the receiver
  std::size_t most_near_ = 0;    // pairs of one receiver
  int threads_;
  std::vector<Share> shares_;    // [threads]
};

void CpuRealSpace::set_pairs(const PairView &rows)
{
  for (Pairs *pairs : {&mutual_, &one_sided_}) {
    pairs->offsets.assign(1, 0);
    pairs->atoms.clear();
  }
  std::size_t most = 0;
  for (std::int64_t row = 0; row < rows.n_owned; ++row) {
    std::size_t count = 0;
    for (std::int64_t k = rows.runs[row].begin; k < rows.runs[row].end; ++k) {
      const std::int32_t atom = rows.neighbours[k];
      const double *sender = rows.atoms[atom].values;
      if (sender[0] == kOutOfReach) continue;    // fills up the run
      const auto sender_row = static_cast<std::int64_t>(sender[3]);
      const bool both_owned = sender_row < rows.n_owned;
      if (both_owned && sender_row < row) continue;    // kept the other way round
      (both_owned && sender_row != row ? mutual_ : one_sided_).atoms.push_back(atom);
      ++count;
    }
    most = std::max(most, count);
    for (Pairs *pairs : {&mutual_, &one_sided_})
      pairs->offsets.push_back(static_cast<std::int64_t>(pairs->atoms.size()));
  }
  most_near_ = most;
}

void CpuRealSpace::Near::resize(std::size_t n)
{
  for (auto *values : {&x, &y, &z, &squared, &row, &charge, &value, &derivative}) values->resize(n);
  rows.resize(n);
}

std::size_t CpuRealSpace::find_near(const Pairs &pairs, std::size_t row, const Packed4 *atoms,
                                    const double *receiver, Near &near, std::size_t found) const
{
  const double cutoff_squared = cutoff_ * cutoff_;
  const auto end = static_cast<std::size_t>(pairs.offsets[row + 1]);
  for (auto k = static_cast<std::size_t>(pairs.offsets[row]); k < end; ++k) {
    const double *sender = atoms[pairs.atoms[k]].values;
    const double x = sender[0] - receiver[0];
    const double y = sender[1] - receiver[1];
    const double z = sender[2] - receiver[2];
    const double squared = x * x + y * y + z * z;
    // Written always, counted when near: no branch to mispredict.
    near.x[found] = x;
    near.y[found] = y;
    near.z[found] = z;
    near.squared[found] = squared;
    near.row[found] = sender[3];
    found += squared < cutoff_squared;
  }
  return found;
}

void CpuRealSpace::add(const PairView &rows, const at::Tensor &charges_of_rows, double constant,
                       const CoulombTensors &to)
{
  const CoulombSums sums = spans_of(to);
  const double *charges = charges_of_rows.const_data_ptr<double>();
  const auto n = static_cast<std::size_t>(rows.n_owned);
  const std::size_t parts = shares_.size();
  for_each_item(static_cast<std::int64_t>(parts), threads_, [&](std::int64_t part) {
    const auto k = static_cast<std::size_t>(part);
    Share &share = shares_[k];
    share.near.resize(most_near_);
    CoulombSums own = sums;
    if (parts > 1) {
      share.virial = {};
      share.potential.assign(n, 0.0);
      share.forces.assign(3 * n, 0.0);
      share.node_virial.assign(sums.node_virial.size(), 0.0);
      own.virial = share.virial.data();
      own.potential = share.potential;
      own.forces = share.forces;
      own.node_virial = share.node_virial;
    }
    add_rows(n * k / parts, n * (k + 1) / parts, rows, charges, constant, share.near, own);
  });
  if (parts == 1) return;
  const auto add_to = [](std::span<double> total, std::span<const double> part) {
    for (std::size_t k = 0; k < total.size(); ++k) total[k] += part[k];
  };
  for (const Share &share : shares_) {
    add_to({sums.virial, 9}, share.virial);
    add_to(sums.potential, share.potential);
    add_to(sums.forces, share.forces);
    add_to(sums.node_virial, share.node_virial);
  }
}

void CpuRealSpace::add_rows(std::size_t begin, std::size_t end, const PairView &rows,
                            const double *charges, double constant, Near &near,
                            const CoulombSums &sums) const
{
  constexpr std::size_t kComponents[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  const bool node_virial = !sums.node_virial.empty();
  std::array<double, 6> total{};
  for (std::size_t i = begin; i < end; ++i) {
    const double *receiver = rows.atoms[rows.owned_atoms[i]].values;
    const std::size_t mutual = find_near(mutual_, i, rows.atoms, receiver, near, 0);
    const std::size_t all = find_near(one_sided_, i, rows.atoms, receiver, near, mutual);
    look_up(all, near.row.data(), charges, near.rows.data(), near.charge.data());
    const auto part = [all](std::vector<double> &values) { return std::span(values.data(), all); };
    table_.evaluate(part(near.squared), part(near.value), part(near.derivative));

    const double *from[] = {near.x.data(),      near.y.data(),     near.z.data(),
                            near.charge.data(), near.value.data(), near.derivative.data()};
    double row[kRowSums] = {};
    add_pairs(0, mutual, from, 1.0, row);
    // A pair that another rank (or the opposite image) counts too gives half of its virial here.
    add_pairs(mutual, all, from, 0.5, row);
    sums.potential[i] += constant * row[0];
    const double factor = constant * charges[i];
    for (std::size_t a = 0; a < 3; ++a) sums.forces[3 * i + a] += factor * row[1 + a];
    for (std::size_t c = 0; c < 6; ++c) total[c] -= factor * row[4 + c];
    for (std::size_t m = 0; m < mutual; ++m) {
      const auto j = static_cast<std::size_t>(near.rows[m]);
      const double slope = factor * near.charge[m] * near.derivative[m];
      sums.forces[3 * j] -= slope * near.x[m];
      sums.forces[3 * j + 1] -= slope * near.y[m];
      sums.forces[3 * j + 2] -= slope * near.z[m];
      sums.potential[j] += factor * near.value[m];
    }
    if (!node_virial) continue;
    for (std::size_t m = 0; m < all; ++m) {
      const double vector[3] = {near.x[m], near.y[m], near.z[m]};
      const double half = -0.5 * factor * near.charge[m] * near.derivative[m];
      for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) {
          const double value = half * vector[a] * vector[b];
          sums.node_virial[9 * i + 3 * a + b] += value;
          if (m < mutual)
            sums.node_virial[9 * static_cast<std::size_t>(near.rows[m]) + 3 * a + b] += value;
        }
    }
  }
  for (std::size_t c = 0; c < 6; ++c) {
    const auto [a, b] = kComponents[c];
    sums.virial[3 * a + b] += total[c];
    if (a != b) sums.virial[3 * b + a] += total[c];
  }
}

}    // namespace

std::unique_ptr<RealSpaceSum> make_real_space_sum(int threads)
{
  return std::make_unique<CpuRealSpace>(threads);
}

}    // namespace mlip_dd
