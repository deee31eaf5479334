#include "potentials/dftd3/d3_kernel.h"

#include "potentials/dftd3/d3_contract.h"
#include "potentials/dftd3/d3_terms.h"
#include "potentials/pair/row_sums.h"

namespace mlip_dd {

namespace {

struct Receiver {
  Double4 x, y, z;
  int type;
};

MLIP_DD_INLINE Receiver receiver_of(const PairView &rows, std::int64_t row)
{
  const double *own = rows.atoms[rows.owned_atoms[row]].values;
  return {all4(own[0]), all4(own[1]), all4(own[2]), rows.types[row]};
}

// C6 of four pairs and its derivative by the receiver's coordination number.
MLIP_DD_INLINE void add_c6(const Contracted &own, const D3Weights *weights, const Double4 &senders,
                           std::size_t part, Double4 &c6, Double4 &slope)
{
  const auto row = [&](int lane) -> const Packed4 & {
    return weights[static_cast<std::int64_t>(senders[lane])].weights[part];
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

MLIP_DD_INLINE void add_row(const RowResult &result, std::int64_t row, const RowResults &results,
                            BlockTotals &block, Moment4 &block_moment)
{
  const Double4 totals = sums4(result.force.x, result.force.y, result.force.z, 0.5 * result.energy);
  for (int a = 0; a < 3; ++a) results.forces[3 * row + a] += totals[a];
  results.node_energy[row] += totals[3];
  block.energy += totals[3];
  if (results.node_virial) add_half_virial(result.moment, &results.node_virial[9 * row]);
  add_moment(result.moment, block_moment);
}

template <bool Zero>
MLIP_DD_INLINE BlockTotals dispersion(const PairView &rows, const D3Model &model,
                                      const D3Weights *weights, std::int64_t begin,
                                      std::int64_t end, double *energy_slope,
                                      const RowResults &results)
{
  BlockTotals block;
  Moment4 block_moment;
  for (std::int64_t row = begin; row < end; ++row) {
    const Receiver own = receiver_of(rows, row);
    RowResult result;
    Double4 slopes{};
    for (int type = 0; type < model.n_types; ++type) {
      const D3Pair &pair = model.pair(own.type, type);
      const Contracted contracted =
          contract(pair.c6.data(), weights[row],
                   model.references[static_cast<std::size_t>(own.type)].size());
      const bool many = model.references[static_cast<std::size_t>(type)].size() > 4;
      const NeighbourRun run = rows.runs[row * rows.n_types + type];
      for (std::int64_t k = run.begin; k < run.end; k += 4) {
        const Pairs4 pairs = load_pairs(rows.atoms, rows.neighbours + k, own.x, own.y, own.z);
        const D3Term<Double4> term = damped<Zero>(model, pair, pairs.squared);
        Double4 c6{}, slope{};
        add_c6(contracted, weights, pairs.rows, 0, c6, slope);
        if (many) add_c6(contracted, weights, pairs.rows, 1, c6, slope);
        result.energy -= c6 * term.value;
        slopes -= slope * term.value;
        add_pairs(pairs, -c6 * term.slope_over_r, result.force, result.moment);
      }
    }
    energy_slope[row] = sum4(slopes);
    add_row(result, row, results, block, block_moment);
  }
  add_half_virial(block_moment, block.virial.data());
  return block;
}

MLIP_DD_KERNEL BlockTotals bj_dispersion(const PairView &rows, const D3Model &model,
                                         const D3Weights *weights, std::int64_t begin,
                                         std::int64_t end, double *energy_slope,
                                         const RowResults &results)
{
  return dispersion<false>(rows, model, weights, begin, end, energy_slope, results);
}

MLIP_DD_KERNEL BlockTotals zero_dispersion(const PairView &rows, const D3Model &model,
                                           const D3Weights *weights, std::int64_t begin,
                                           std::int64_t end, double *energy_slope,
                                           const RowResults &results)
{
  return dispersion<true>(rows, model, weights, begin, end, energy_slope, results);
}

MLIP_DD_KERNEL void count(const PairView &rows, const D3Model &model, std::int64_t begin,
                          std::int64_t end, double *coordination)
{
  for (std::int64_t row = begin; row < end; ++row) {
    const Receiver own = receiver_of(rows, row);
    Double4 total{};
    for (int type = 0; type < model.n_types; ++type) {
      const D3Pair &pair = model.pair(own.type, type);
      const NeighbourRun run = rows.runs[row * rows.n_types + type];
      for (std::int64_t k = run.begin; k < run.end; k += 4) {
        const Pairs4 pairs = load_pairs(rows.atoms, rows.neighbours + k, own.x, own.y, own.z);
        total += counting(model, pair, pairs.squared).value;
      }
    }
    coordination[row] = sum4(total);
  }
}

MLIP_DD_KERNEL BlockTotals coordination_forces(const PairView &rows, const D3Model &model,
                                               const double *energy_slope, std::int64_t begin,
                                               std::int64_t end, const RowResults &results)
{
  BlockTotals block;
  Moment4 block_moment;
  for (std::int64_t row = begin; row < end; ++row) {
    const Receiver own = receiver_of(rows, row);
    RowResult result;
    for (int type = 0; type < model.n_types; ++type) {
      const D3Pair &pair = model.pair(own.type, type);
      const NeighbourRun run = rows.runs[row * rows.n_types + type];
      for (std::int64_t k = run.begin; k < run.end; k += 4) {
        const Pairs4 pairs = load_pairs(rows.atoms, rows.neighbours + k, own.x, own.y, own.z);
        const auto slope = [&](int lane) {
          return energy_slope[static_cast<std::int64_t>(pairs.rows[lane])];
        };
        const Double4 both = energy_slope[row] + Double4{slope(0), slope(1), slope(2), slope(3)};
        add_pairs(pairs, both * counting(model, pair, pairs.squared).slope_over_r, result.force,
                  result.moment);
      }
    }
    add_row(result, row, results, block, block_moment);
  }
  add_half_virial(block_moment, block.virial.data());
  return block;
}

}    // namespace

void count_neighbours(const PairView &rows, const D3Model &model, std::int64_t begin,
                      std::int64_t end, double *coordination)
{
  count(rows, model, begin, end, coordination);
}

BlockTotals add_dispersion(const PairView &rows, const D3Model &model, const D3Weights *weights,
                           std::int64_t begin, std::int64_t end, double *energy_slope,
                           const RowResults &results)
{
  return model.zero_damping
             ? zero_dispersion(rows, model, weights, begin, end, energy_slope, results)
             : bj_dispersion(rows, model, weights, begin, end, energy_slope, results);
}

BlockTotals add_coordination_forces(const PairView &rows, const D3Model &model,
                                    const double *energy_slope, std::int64_t begin,
                                    std::int64_t end, const RowResults &results)
{
  return coordination_forces(rows, model, energy_slope, begin, end, results);
}

}    // namespace mlip_dd
