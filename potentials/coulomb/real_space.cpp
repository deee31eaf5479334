#include "potentials/coulomb/real_space.h"

#include <algorithm>

#include "potentials/pair/row_blocks.h"
#include "potentials/pair/wide.h"
#ifdef MLIP_DD_WITH_CUDA
#include "potentials/coulomb/screened_lanes.h"
#include "potentials/coulomb/screened_results.h"
#include "potentials/pair/gpu_rows.h"
#endif

namespace mlip_dd {

#ifdef MLIP_DD_WITH_CUDA
class RealSpaceSum::OnGpu {
 public:
  explicit OnGpu(int gpu) : gpu_rows_(gpu), table_(gpu), charges_(gpu) {}

  void set_table(const ScreenedTable &table)
  {
    table_.upload(table.coefficients());
    alpha_squared_ = table.alpha_squared();
  }

  void set_candidates(const AtomGraph &graph)
  {
    set_rows(rows_, graph, 1);
    new_rows_ = true;
  }

  void add(std::span<const double> positions, std::span<const double> charges, double cutoff,
           double constant, const CoulombSums &sums)
  {
    set_positions(rows_, positions);
    gpu_rows_.take(rows_, new_rows_);
    new_rows_ = false;
    charges_.upload(charges);
    const std::vector<LaneSums> &found = gpu_rows_.sum([&](LaneSums *lanes) {
      launch_screened({gpu_rows_.view(), table_.as<double>(), alpha_squared_, cutoff * cutoff,
                       charges_.as<double>()},
                      lanes);
    });
    add_screened_sums(found, charges, constant, sums);
  }

 private:
  GpuRows gpu_rows_;
  GpuArray table_, charges_;
  double alpha_squared_ = 0.0;
  PairRows rows_;
  bool new_rows_ = false;    // since the last add()
};
#else
class RealSpaceSum::OnGpu {};
#endif

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

}    // namespace

RealSpaceSum::RealSpaceSum([[maybe_unused]] int gpu, int threads)
    : threads_(threads), shares_(static_cast<std::size_t>(threads))
{
#ifdef MLIP_DD_WITH_CUDA
  if (gpu >= 0) on_gpu_ = std::make_unique<OnGpu>(gpu);
#endif
}

RealSpaceSum::~RealSpaceSum() = default;

void RealSpaceSum::set_parameters(double alpha, double cutoff)
{
  if (alpha == alpha_ && cutoff == cutoff_) return;
  table_ = ScreenedTable(alpha, cutoff);
  alpha_ = alpha;
  cutoff_ = cutoff;
#ifdef MLIP_DD_WITH_CUDA
  if (on_gpu_) on_gpu_->set_table(table_);
#endif
}

void RealSpaceSum::set_candidates(const AtomGraph &graph)
{
#ifdef MLIP_DD_WITH_CUDA
  if (on_gpu_) return on_gpu_->set_candidates(graph);
#endif
  owned_atoms_ = graph.owned_atoms;
  for (Pairs *pairs : {&mutual_, &one_sided_}) {
    pairs->offsets.assign(1, 0);
    pairs->atoms.clear();
    pairs->rows.clear();
  }
  std::size_t most = 0;
  for (std::size_t receiver = 0; receiver < owned_atoms_.size(); ++receiver) {
    const auto row = static_cast<std::int32_t>(receiver);
    std::size_t count = 0;
    for (const std::int32_t atom : graph.candidates.senders_of(receiver)) {
      const std::int32_t sender = graph.candidates.atom_rows[static_cast<std::size_t>(atom)];
      const bool both_owned = sender < graph.n_owned;
      if (both_owned && sender < row) continue;    // kept the other way round
      Pairs &pairs = both_owned && sender != row ? mutual_ : one_sided_;
      pairs.atoms.push_back(atom);
      pairs.rows.push_back(sender);
      ++count;
    }
    most = std::max(most, count);
    for (Pairs *pairs : {&mutual_, &one_sided_})
      pairs->offsets.push_back(static_cast<std::int64_t>(pairs->rows.size()));
  }
  most_near_ = most;
}

void RealSpaceSum::Near::resize(std::size_t n)
{
  for (auto *values : {&x, &y, &z, &squared, &charge, &value, &derivative}) values->resize(n);
  rows.resize(n);
}

std::size_t RealSpaceSum::find_near(const Pairs &pairs, std::size_t row, const double *receiver,
                                    std::span<const double> positions,
                                    std::span<const double> charges, Near &near,
                                    std::size_t found) const
{
  const double cutoff_squared = cutoff_ * cutoff_;
  const auto end = static_cast<std::size_t>(pairs.offsets[row + 1]);
  for (auto k = static_cast<std::size_t>(pairs.offsets[row]); k < end; ++k) {
    const double *sender = &positions[3 * static_cast<std::size_t>(pairs.atoms[k])];
    const double x = sender[0] - receiver[0];
    const double y = sender[1] - receiver[1];
    const double z = sender[2] - receiver[2];
    const double squared = x * x + y * y + z * z;
    // Written always, counted when near: no branch to mispredict.
    near.x[found] = x;
    near.y[found] = y;
    near.z[found] = z;
    near.squared[found] = squared;
    near.charge[found] = charges[static_cast<std::size_t>(pairs.rows[k])];
    near.rows[found] = pairs.rows[k];
    found += squared < cutoff_squared;
  }
  return found;
}

void RealSpaceSum::add(std::span<const double> positions, std::span<const double> charges,
                       double constant, const CoulombSums &sums)
{
#ifdef MLIP_DD_WITH_CUDA
  if (on_gpu_) return on_gpu_->add(positions, charges, cutoff_, constant, sums);
#endif
  const std::size_t n = owned_atoms_.size(), parts = shares_.size();
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
      own.virial = &share.virial;
      own.potential = share.potential;
      own.forces = share.forces;
      own.node_virial = share.node_virial;
    }
    add_rows(n * k / parts, n * (k + 1) / parts, positions, charges, constant, share.near, own);
  });
  if (parts == 1) return;
  const auto add_to = [](std::span<double> total, std::span<const double> part) {
    for (std::size_t k = 0; k < total.size(); ++k) total[k] += part[k];
  };
  for (const Share &share : shares_) {
    add_to(*sums.virial, share.virial);
    add_to(sums.potential, share.potential);
    add_to(sums.forces, share.forces);
    add_to(sums.node_virial, share.node_virial);
  }
}

void RealSpaceSum::add_rows(std::size_t begin, std::size_t end, std::span<const double> positions,
                            std::span<const double> charges, double constant, Near &near,
                            const CoulombSums &sums) const
{
  constexpr std::size_t kComponents[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  const bool node_virial = !sums.node_virial.empty();
  std::array<double, 6> total{};
  for (std::size_t i = begin; i < end; ++i) {
    const double *receiver = &positions[3 * static_cast<std::size_t>(owned_atoms_[i])];
    const std::size_t mutual = find_near(mutual_, i, receiver, positions, charges, near, 0);
    const std::size_t all = find_near(one_sided_, i, receiver, positions, charges, near, mutual);
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
    (*sums.virial)[3 * a + b] += total[c];
    if (a != b) (*sums.virial)[3 * b + a] += total[c];
  }
}

}    // namespace mlip_dd
