#include "potentials/dftd3/d3_kernel.h"

#include "potentials/dftd3/d3_contract.h"
#include "potentials/pair/row_sums.h"
#include "potentials/pair/smooth_step.h"

namespace mlip_dd {

namespace {

constexpr double kSteepness = 16.0;    // k1 of Grimme et al. (2010), eq. 15

struct Term4 {
  Double4 value, slope_over_r;    // the second: derivative by r, over r
};

struct Receiver {
  Double4 x, y, z;
  int type;
};

MLIP_DD_INLINE Receiver receiver_of(const PairRows &rows, std::int64_t row)
{
  const auto r = static_cast<std::size_t>(row);
  const double *own = rows.atoms[static_cast<std::size_t>(rows.owned_atoms[r])].values;
  return {all4(own[0]), all4(own[1]), all4(own[2]), rows.types[r]};
}

// How much of a neighbour each pair counts: from 1 when close to a small rest far away.
MLIP_DD_INLINE Term4 counting(const D3Model &model, const D3Pair &pair, const Double4 &squared)
{
  const Mask4 inside = squared < all4(model.cn_cutoff * model.cn_cutoff);
  const Double4 inverse2 = 1.0 / squared;
  const Double4 inverse = sqrt4(inverse2);
  const Double4 power = exp4(kSteepness - kSteepness * pair.counting_radius * inverse);
  const Double4 count = 1.0 / (1.0 + power);
  const Double4 slope_over_r =
      -kSteepness * pair.counting_radius * inverse2 * inverse * power * count * count;
  if (model.cn_switch_width == 0.0) return {where4(inside, count), where4(inside, slope_over_r)};
  const SmoothStep step =
      smooth_step(squared * inverse, model.cn_cutoff, 1.0 / model.cn_switch_width);
  return {where4(inside, count * step.value),
          where4(inside, slope_over_r * step.value + count * step.slope * inverse)};
}

MLIP_DD_INLINE Term4 becke_johnson(const D3Pair &pair, const Double4 &squared)
{
  const Double4 r4 = squared * squared, r6 = r4 * squared;
  const Double4 f6 = 1.0 / (r6 + pair.damping6), f8 = 1.0 / (r6 * squared + pair.damping8);
  return {pair.s6 * f6 + pair.s8_ratio * f8,
          -6.0 * pair.s6 * r4 * f6 * f6 - 8.0 * pair.s8_ratio * r6 * f8 * f8};
}

MLIP_DD_INLINE Term4 zero_damping(const D3Pair &pair, const Double4 &squared)
{
  const Double4 inverse2 = 1.0 / squared;
  const Double4 inverse6 = inverse2 * inverse2 * inverse2;
  const Double4 u = pair.damping6 * inverse2, v = pair.damping8 * inverse2;
  const Double4 u2 = u * u, v2 = v * v, v4 = v2 * v2;
  const Double4 steep6 = 6.0 * u2 * u2 * u2 * u;    // 6 (r / sr6 R0)^-14
  const Double4 steep8 = 6.0 * v4 * v4;             // 6 (r / sr8 R0)^-16
  const Double4 damped6 = 1.0 / (1.0 + steep6), damped8 = 1.0 / (1.0 + steep8);
  const Double4 part6 = pair.s6 * inverse6 * damped6;
  const Double4 part8 = pair.s8_ratio * inverse6 * inverse2 * damped8;
  return {part6 + part8, inverse2 * (part6 * (14.0 * steep6 * damped6 - 6.0) +
                                     part8 * (16.0 * steep8 * damped8 - 8.0))};
}

// s6 f6 + s8 ratio f8 of four pairs, zero beyond the cutoff.
template <bool Zero>
MLIP_DD_INLINE Term4 damped(const D3Model &model, const D3Pair &pair, const Double4 &squared)
{
  const Mask4 inside = squared < all4(model.cutoff * model.cutoff);
  Term4 term;
  if constexpr (Zero)
    term = zero_damping(pair, squared);
  else
    term = becke_johnson(pair, squared);
  if (model.switch_width > 0.0) {
    const Double4 distance = sqrt4(squared);
    const SmoothStep step = smooth_step(distance, model.cutoff, 1.0 / model.switch_width);
    term = {term.value * step.value,
            term.slope_over_r * step.value + term.value * step.slope / distance};
  }
  return {where4(inside, term.value), where4(inside, term.slope_over_r)};
}

// C6 of four pairs and its derivative by the receiver's coordination number.
MLIP_DD_INLINE void add_c6(const Contracted &own, const std::vector<D3Weights> &weights,
                           const Double4 &senders, std::size_t part, Double4 &c6, Double4 &slope)
{
  const auto row = [&](int lane) -> const Packed4 & {
    return weights[static_cast<std::size_t>(senders[lane])].weights[part];
  };
  const Columns4 w = transpose4(load4(row(0)), load4(row(1)), load4(row(2)), load4(row(3)));
  const double *c = own.c6 + 4 * part, *s = own.slope + 4 * part;
  c6 += c[0] * w.c0 + c[1] * w.c1 + c[2] * w.c2 + c[3] * w.c3;
  slope += s[0] * w.c0 + s[1] * w.c1 + s[2] * w.c2 + s[3] * w.c3;
}

struct RowResult {
  Double4 energy{};
  Force4 force;
  Moment4 moment;
};

MLIP_DD_INLINE void add_row(const RowResult &result, std::int64_t row, const D3Sums &sums,
                            D3Block &block, Moment4 &block_moment)
{
  const Double4 totals = sums4(result.force.x, result.force.y, result.force.z, 0.5 * result.energy);
  for (int a = 0; a < 3; ++a) sums.forces[3 * row + a] += totals[a];
  sums.node_energy[row] += totals[3];
  block.energy += totals[3];
  if (sums.node_virial) add_half_virial(result.moment, &sums.node_virial[9 * row]);
  add_moment(result.moment, block_moment);
}

template <bool Zero>
MLIP_DD_INLINE D3Block dispersion(const PairRows &rows, const D3Model &model,
                                  const std::vector<D3Weights> &weights, std::int64_t begin,
                                  std::int64_t end, double *energy_slope, const D3Sums &sums)
{
  D3Block block;
  Moment4 block_moment;
  for (std::int64_t row = begin; row < end; ++row) {
    const Receiver own = receiver_of(rows, row);
    RowResult result;
    Double4 slopes{};
    for (int type = 0; type < model.n_types; ++type) {
      const D3Pair &pair = model.pair(own.type, type);
      const Contracted contracted =
          contract(pair, weights[static_cast<std::size_t>(row)],
                   model.references[static_cast<std::size_t>(own.type)].size());
      const bool many = model.references[static_cast<std::size_t>(type)].size() > 4;
      const NeighbourRun run = rows.run(row, type);
      for (std::int64_t k = run.begin; k < run.end; k += 4) {
        const Pairs4 pairs =
            load_pairs(rows.atoms.data(), rows.neighbours.data() + k, own.x, own.y, own.z);
        const Term4 term = damped<Zero>(model, pair, pairs.squared);
        Double4 c6{}, slope{};
        add_c6(contracted, weights, pairs.rows, 0, c6, slope);
        if (many) add_c6(contracted, weights, pairs.rows, 1, c6, slope);
        result.energy -= c6 * term.value;
        slopes -= slope * term.value;
        add_pairs(pairs, -c6 * term.slope_over_r, result.force, result.moment);
      }
    }
    energy_slope[row] = sum4(slopes);
    add_row(result, row, sums, block, block_moment);
  }
  add_half_virial(block_moment, block.virial.data());
  return block;
}

MLIP_DD_KERNEL D3Block bj_dispersion(const PairRows &rows, const D3Model &model,
                                     const std::vector<D3Weights> &weights, std::int64_t begin,
                                     std::int64_t end, double *energy_slope, const D3Sums &sums)
{
  return dispersion<false>(rows, model, weights, begin, end, energy_slope, sums);
}

MLIP_DD_KERNEL D3Block zero_dispersion(const PairRows &rows, const D3Model &model,
                                       const std::vector<D3Weights> &weights, std::int64_t begin,
                                       std::int64_t end, double *energy_slope, const D3Sums &sums)
{
  return dispersion<true>(rows, model, weights, begin, end, energy_slope, sums);
}

MLIP_DD_KERNEL void count(const PairRows &rows, const D3Model &model, std::int64_t begin,
                          std::int64_t end, double *coordination)
{
  for (std::int64_t row = begin; row < end; ++row) {
    const Receiver own = receiver_of(rows, row);
    Double4 total{};
    for (int type = 0; type < model.n_types; ++type) {
      const D3Pair &pair = model.pair(own.type, type);
      const NeighbourRun run = rows.run(row, type);
      for (std::int64_t k = run.begin; k < run.end; k += 4) {
        const Pairs4 pairs =
            load_pairs(rows.atoms.data(), rows.neighbours.data() + k, own.x, own.y, own.z);
        total += counting(model, pair, pairs.squared).value;
      }
    }
    coordination[row] = sum4(total);
  }
}

MLIP_DD_KERNEL D3Block coordination_forces(const PairRows &rows, const D3Model &model,
                                           const double *energy_slope, std::int64_t begin,
                                           std::int64_t end, const D3Sums &sums)
{
  D3Block block;
  Moment4 block_moment;
  for (std::int64_t row = begin; row < end; ++row) {
    const Receiver own = receiver_of(rows, row);
    RowResult result;
    for (int type = 0; type < model.n_types; ++type) {
      const D3Pair &pair = model.pair(own.type, type);
      const NeighbourRun run = rows.run(row, type);
      for (std::int64_t k = run.begin; k < run.end; k += 4) {
        const Pairs4 pairs =
            load_pairs(rows.atoms.data(), rows.neighbours.data() + k, own.x, own.y, own.z);
        const auto slope = [&](int lane) {
          return energy_slope[static_cast<std::int64_t>(pairs.rows[lane])];
        };
        const Double4 both = energy_slope[row] + Double4{slope(0), slope(1), slope(2), slope(3)};
        add_pairs(pairs, both * counting(model, pair, pairs.squared).slope_over_r, result.force,
                  result.moment);
      }
    }
    add_row(result, row, sums, block, block_moment);
  }
  add_half_virial(block_moment, block.virial.data());
  return block;
}

}    // namespace

void count_neighbours(const PairRows &rows, const D3Model &model, std::int64_t begin,
                      std::int64_t end, double *coordination)
{
  count(rows, model, begin, end, coordination);
}

D3Block add_dispersion(const PairRows &rows, const D3Model &model,
                       const std::vector<D3Weights> &weights, std::int64_t begin, std::int64_t end,
                       double *energy_slope, const D3Sums &sums)
{
  return model.zero_damping ? zero_dispersion(rows, model, weights, begin, end, energy_slope, sums)
                            : bj_dispersion(rows, model, weights, begin, end, energy_slope, sums);
}

D3Block add_coordination_forces(const PairRows &rows, const D3Model &model,
                                const double *energy_slope, std::int64_t begin, std::int64_t end,
                                const D3Sums &sums)
{
  return coordination_forces(rows, model, energy_slope, begin, end, sums);
}

}    // namespace mlip_dd
