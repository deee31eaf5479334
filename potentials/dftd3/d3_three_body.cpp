#include "potentials/dftd3/d3_three_body.h"

#include <vector>

#include "potentials/dftd3/d3_contract.h"
#include "potentials/dftd3/d3_triple_terms.h"
#include "potentials/pair/row_sums.h"

namespace mlip_dd {

namespace {

constexpr std::size_t kLanes = 4;

// The neighbours of one atom within the three-body cutoff, by type, each type filled up to a
// multiple of four with neighbours out of every reach.
struct Around {
  struct Run {
    int type;
    std::size_t begin, end;    // groups of four
  };
  std::vector<Run> runs;
  std::vector<std::int64_t> rows;
  // One entry per neighbour, four at a time.
  std::vector<Packed4> x, y, z, squared, inverse;    // vector from the centre, r^2 and 1 / r^2
  std::vector<Packed4> damping;                      // (R / r)^(16/3)
  std::vector<Packed4> root_c6,
      log_slope;                            // of the pair's C6: square root, d ln C6 / d CN_centre
  std::vector<Packed4> step, step_slope;    // of triple_step
  std::vector<Packed4> energy, slope;       // sums over triples; the second r^2 dE / d r^2
  std::vector<Packed4> weights;             // [groups, kMostReferences]
};

template <bool Switched>
MLIP_DD_INLINE SmoothStep<Double4> step_of(const D3Model &model, const Double4 &squared)
{
  if constexpr (!Switched) return {all4(1.0), all4(0.0)};
  return triple_step(model.three_body_cutoff, model.three_body_switch_width, squared);
}

// (R / r)^(16/3) from R^2 and 1 / r^2.
MLIP_DD_INLINE Double4 damping_power(double radius2, const Double4 &inverse)
{
  const Double4 ratio = radius2 * inverse;
  return ratio * ratio * ratio * inverse_cube_root4(ratio);
}

void find_neighbours(const PairView &rows, const D3Model &model, std::int64_t row, Around &around)
{
  const Packed4 &own = rows.atoms[rows.owned_atoms[row]];
  const double reach2 = model.three_body_cutoff * model.three_body_cutoff;
  const Packed4 filler{{kOutOfReach, kOutOfReach, kOutOfReach, 0.0}};
  const auto put = [&](const Packed4 &atom) {
    const std::size_t n = around.rows.size(), lane = n % kLanes;
    if (lane == 0)
      for (auto *column : {&around.x, &around.y, &around.z}) column->emplace_back();
    around.x.back().values[lane] = atom.values[0] - own.values[0];
    around.y.back().values[lane] = atom.values[1] - own.values[1];
    around.z.back().values[lane] = atom.values[2] - own.values[2];
    around.rows.push_back(static_cast<std::int64_t>(atom.values[3]));
  };
  around.runs.clear();
  around.rows.clear();
  for (auto *column : {&around.x, &around.y, &around.z}) column->clear();
  for (int type = 0; type < model.n_types; ++type) {
    const NeighbourRun run = rows.runs[row * rows.n_types + type];
    const std::size_t begin = around.rows.size() / kLanes;
    for (std::int64_t k = run.begin; k < run.end; ++k) {
      const Packed4 &atom = rows.atoms[rows.neighbours[k]];
      double squared = 0.0;
      for (int a = 0; a < 3; ++a)
        squared += (atom.values[a] - own.values[a]) * (atom.values[a] - own.values[a]);
      if (squared < reach2) put(atom);
    }
    while (around.rows.size() % kLanes != 0) put(filler);
    const std::size_t end = around.rows.size() / kLanes;
    if (end > begin) around.runs.push_back({type, begin, end});
  }
}

template <bool Switched>
MLIP_DD_INLINE void prepare(const PairView &rows, const D3Model &model, const D3Weights *weights,
                            std::int64_t row, Around &around)
{
  const std::size_t groups = around.x.size();
  for (auto *column : {&around.squared, &around.inverse, &around.damping, &around.root_c6,
                       &around.log_slope, &around.step, &around.step_slope})
    column->resize(groups);
  around.energy.assign(groups, {});
  around.slope.assign(groups, {});
  around.weights.resize(groups * kMostReferences);
  const int own_type = rows.types[row];
  for (const Around::Run &run : around.runs) {
    const D3Pair &pair = model.pair(own_type, run.type);
    const Contracted own = contract(pair.c6.data(), weights[row],
                                    model.references[static_cast<std::size_t>(own_type)].size());
    for (std::size_t g = run.begin; g < run.end; ++g) {
      const Double4 x = load4(around.x[g]), y = load4(around.y[g]), z = load4(around.z[g]);
      const Double4 squared = x * x + y * y + z * z, inverse = 1.0 / squared;
      Double4 c6{}, slope{};
      for (std::size_t q = 0; q < kMostReferences; ++q) {
        Packed4 &column = around.weights[g * kMostReferences + q];
        for (std::size_t lane = 0; lane < kLanes; ++lane)
          column.values[lane] =
              weights[around.rows[kLanes * g + lane]].weights[q / kLanes].values[q % kLanes];
        c6 += own.c6[q] * load4(column);
        slope += own.slope[q] * load4(column);
      }
      const SmoothStep<Double4> step = step_of<Switched>(model, squared);
      store4(around.squared[g], squared);
      store4(around.inverse[g], inverse);
      store4(around.damping[g], damping_power(pair.three_body_radius2, inverse));
      store4(around.root_c6[g], sqrt4(c6));
      // Fillers have the weights of some other element, for which there may be no C6.
      store4(around.log_slope[g], where4(c6 > all4(0.0), slope / c6));
      store4(around.step[g], step.value);
      store4(around.step_slope[g], step.slope);
    }
  }
}

// A neighbour j, the same in all lanes.
struct Second {
  Double4 x, y, z, squared, inverse, damping, root_c6;
  SmoothStep<Double4> step;
};

MLIP_DD_INLINE Second second_of(const Around &around, std::size_t j)
{
  const auto lane = [&](const std::vector<Packed4> &column) {
    return all4(column[j / kLanes].values[j % kLanes]);
  };
  return {lane(around.x),       lane(around.y),
          lane(around.z),       lane(around.squared),
          lane(around.inverse), lane(around.damping),
          lane(around.root_c6), {lane(around.step), lane(around.step_slope)}};
}

// Triples of the centre, neighbour `j` and each of a run of neighbours after it.
template <bool Switched>
MLIP_DD_INLINE void add_triples(const D3Model &model, const D3Pair &far, const Contracted &c6_of_j,
                                std::size_t references, const Second &second, std::size_t j,
                                std::size_t begin, std::size_t end, Around &around, Double4 &energy,
                                Double4 &slope)
{
  const double reach2 = model.three_body_cutoff * model.three_body_cutoff;
  const Double4 a = second.squared;
  for (std::size_t g = begin; g < end; ++g) {
    const Double4 x = load4(around.x[g]) - second.x, y = load4(around.y[g]) - second.y,
                  z = load4(around.z[g]) - second.z;
    const Double4 third = x * x + y * y + z * z;
    const auto first = static_cast<double>(kLanes * g);
    const Double4 k = Double4{first, first + 1.0, first + 2.0, first + 3.0};
    const Mask4 inside = (third < all4(reach2)) & (k > all4(static_cast<double>(j)));
    // Lanes that do not count get any length that is not zero.
    const Double4 c = inside ? third : all4(reach2);
    const Double4 b = load4(around.squared[g]);
    const Double4 inverse_c = 1.0 / c;
    const Double4 inverse = second.inverse * load4(around.inverse[g]) * inverse_c;
    const Double4 power = second.damping * load4(around.damping[g]) *
                          damping_power(far.three_body_radius2, inverse_c);
    Double4 c6{};
    for (std::size_t q = 0; q < references; ++q)
      c6 += c6_of_j.c6[q] * load4(around.weights[g * kMostReferences + q]);
    const Double4 strength =
        where4(inside, second.root_c6 * load4(around.root_c6[g]) * sqrt4(c6 * inverse) * inverse);
    D3TripleTerm<Double4> term = triple_term(a, b, c, inverse, strength, power);
    if constexpr (Switched) {
      const SmoothStep<Double4> step{load4(around.step[g]), load4(around.step_slope[g])};
      term = switched(term, second.step, step, step_of<true>(model, c).value);
    }
    energy += term.energy;
    slope += term.by_a;
    store4(around.energy[g], load4(around.energy[g]) + term.energy);
    store4(around.slope[g], load4(around.slope[g]) + term.by_b);
  }
}

template <bool Switched>
MLIP_DD_INLINE void add_all_triples(const D3Model &model, const D3Weights *weights, Around &around)
{
  const double reach2 = model.three_body_cutoff * model.three_body_cutoff;
  for (std::size_t m = 0; m < around.runs.size(); ++m) {
    const Around::Run &run = around.runs[m];
    for (std::size_t j = kLanes * run.begin; j < kLanes * run.end; ++j) {
      if (around.squared[j / kLanes].values[j % kLanes] >= reach2) break;    // fillers end a run
      const Second second = second_of(around, j);
      const std::int64_t row = around.rows[j];
      Double4 energy{}, slope{};
      for (std::size_t n = m; n < around.runs.size(); ++n) {
        const Around::Run &other = around.runs[n];
        const D3Pair &far = model.pair(run.type, other.type);
        add_triples<Switched>(model, far,
                              contract(far.c6.data(), weights[row],
                                       model.references[static_cast<std::size_t>(run.type)].size()),
                              model.references[static_cast<std::size_t>(other.type)].size(), second,
                              j, n == m ? j / kLanes : other.begin, other.end, around, energy,
                              slope);
      }
      around.energy[j / kLanes].values[j % kLanes] += sum4(energy);
      around.slope[j / kLanes].values[j % kLanes] += sum4(slope);
    }
  }
}

template <bool Switched>
MLIP_DD_INLINE BlockTotals three_body(const PairView &rows, const D3Model &model,
                                      const D3Weights *weights, std::int64_t begin,
                                      std::int64_t end, double *energy_slope,
                                      const RowResults &results)
{
  BlockTotals block;
  Moment4 block_moment;
  Around around;
  for (std::int64_t row = begin; row < end; ++row) {
    find_neighbours(rows, model, row, around);
    prepare<Switched>(rows, model, weights, row, around);
    add_all_triples<Switched>(model, weights, around);
    Double4 energy{}, by_coordination{};
    Force4 force;
    Moment4 moment;
    for (std::size_t g = 0; g < around.x.size(); ++g) {
      const Pairs4 pairs{load4(around.x[g]), load4(around.y[g]), load4(around.z[g]), {}, {}};
      energy += load4(around.energy[g]);
      by_coordination += load4(around.energy[g]) * load4(around.log_slope[g]);
      add_pairs(pairs,
                2.0 * model.three_body_scale * load4(around.slope[g]) * load4(around.inverse[g]),
                force, moment);
    }
    // Each triple stands with two neighbours; a third of it is the centre's. C6 of a pair counts
    // as its square root.
    const Double4 totals = sums4(force.x, force.y, force.z, model.three_body_scale / 6.0 * energy);
    for (int a = 0; a < 3; ++a) results.forces[3 * row + a] += totals[a];
    results.node_energy[row] += totals[3];
    block.energy += totals[3];
    energy_slope[row] += 0.5 * model.three_body_scale * sum4(by_coordination);
    if (results.node_virial) add_half_virial(moment, &results.node_virial[9 * row]);
    add_moment(moment, block_moment);
  }
  add_half_virial(block_moment, block.virial.data());
  return block;
}

MLIP_DD_KERNEL BlockTotals cut_three_body(const PairView &rows, const D3Model &model,
                                          const D3Weights *weights, std::int64_t begin,
                                          std::int64_t end, double *energy_slope,
                                          const RowResults &results)
{
  return three_body<false>(rows, model, weights, begin, end, energy_slope, results);
}

MLIP_DD_KERNEL BlockTotals switched_three_body(const PairView &rows, const D3Model &model,
                                               const D3Weights *weights, std::int64_t begin,
                                               std::int64_t end, double *energy_slope,
                                               const RowResults &results)
{
  return three_body<true>(rows, model, weights, begin, end, energy_slope, results);
}

}    // namespace

BlockTotals add_three_body(const PairView &rows, const D3Model &model, const D3Weights *weights,
                           std::int64_t begin, std::int64_t end, double *energy_slope,
                           const RowResults &results)
{
  return model.three_body_switch_width > 0.0
             ? switched_three_body(rows, model, weights, begin, end, energy_slope, results)
             : cut_three_body(rows, model, weights, begin, end, energy_slope, results);
}

}    // namespace mlip_dd
