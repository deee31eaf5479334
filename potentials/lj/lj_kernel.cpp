#include "potentials/lj/lj_kernel.h"

#include "potentials/pair/row_sums.h"

namespace mlip_dd {

namespace {

template <bool Switched>
MLIP_DD_INLINE BlockTotals add_rows(const PairView &rows, const LjParameters &parameters,
                                    std::int64_t begin, std::int64_t end, const RowResults &results)
{
  const double inverse_width = Switched ? 1.0 / parameters.switch_width : 0.0;
  const Packed4 *atoms = rows.atoms;
  const std::int32_t *neighbours = rows.neighbours;
  BlockTotals totals;
  Moment4 total_moment;
  for (std::int64_t row = begin; row < end; ++row) {
    const double *own = atoms[rows.owned_atoms[row]].values;
    const Double4 x = all4(own[0]), y = all4(own[1]), z = all4(own[2]);
    const int own_type = rows.types[row];
    Double4 energy{};
    Force4 force;
    Moment4 moment;
    for (int type = 0; type < rows.n_types; ++type) {
      const LjPair pair = parameters.pair(own_type, type);
      const NeighbourRun run = rows.runs[row * rows.n_types + type];
      for (std::int64_t k = run.begin; k < run.end; k += 4) {
        const Pairs4 pairs = load_pairs(atoms, neighbours + k, x, y, z);
        const LjTerm<Double4> term = lj_term<Switched>(pair, inverse_width, pairs.squared);
        energy += term.energy;
        add_pairs(pairs, term.slope_over_r, force, moment);
      }
    }
    const Double4 row_sums = sums4(force.x, force.y, force.z, 0.5 * energy);
    for (int a = 0; a < 3; ++a) results.forces[3 * row + a] += row_sums[a];
    results.node_energy[row] += row_sums[3];
    totals.energy += row_sums[3];
    if (results.node_virial) add_half_virial(moment, &results.node_virial[9 * row]);
    add_moment(moment, total_moment);
  }
  add_half_virial(total_moment, totals.virial.data());
  return totals;
}

MLIP_DD_KERNEL BlockTotals add_cut_rows(const PairView &rows, const LjParameters &parameters,
                                        std::int64_t begin, std::int64_t end,
                                        const RowResults &results)
{
  return add_rows<false>(rows, parameters, begin, end, results);
}

MLIP_DD_KERNEL BlockTotals add_switched_rows(const PairView &rows, const LjParameters &parameters,
                                             std::int64_t begin, std::int64_t end,
                                             const RowResults &results)
{
  return add_rows<true>(rows, parameters, begin, end, results);
}

}    // namespace

BlockTotals add_lj_block(const PairView &rows, const LjParameters &parameters, std::int64_t begin,
                         std::int64_t end, const RowResults &results)
{
  return parameters.switch_width > 0.0 ? add_switched_rows(rows, parameters, begin, end, results)
                                       : add_cut_rows(rows, parameters, begin, end, results);
}

}    // namespace mlip_dd
