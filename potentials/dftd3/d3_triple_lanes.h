// DFT-D3's three-body sums of one atom for the lanes of a GPU.
#pragma once

#include "potentials/dftd3/d3_lanes.h"
#include "potentials/dftd3/d3_triple_terms.h"

namespace mlip_dd {

// What add_three_body computes; extra: the derivative of the energy by the atom's coordination
// number. Each lane takes every n-th neighbour within the cutoff, and for each of these all others:
// a triple is met from both sides, so that nothing is added to what another lane holds.
struct D3TripleLanes {
  D3View view;
  double scale = 0.0;     // as D3Model::three_body_scale
  double cutoff = 0.0;    // Angstrom, of each side
  double switch_width = 0.0;

  MLIP_DD_TERM LaneSums operator()(std::int64_t row, int lane) const
  {
    LaneSums sums;
    const PairView &rows = view.rows;
    const double *own = rows.atoms[rows.owned_atoms[row]].values;
    const std::int64_t begin = rows.runs[row * rows.n_types].begin;
    const std::int64_t end = rows.runs[(row + 1) * rows.n_types - 1].end;
    std::int64_t j = begin;
    int before = lane;    // neighbours within the cutoff that are left to other lanes
    for (;;) {
      // Lanes look for their next one together, and then go over its triples together.
      for (; j < end; ++j)
        if (lane_pair(rows, own, j).squared < cutoff * cutoff && before-- == 0) break;
      if (j >= end) return sums;
      add_triples(row, own, j, sums);
      before = kLanesPerAtom - 1;
      ++j;
    }
  }

 private:
  MLIP_DD_TERM Contracted contracted(std::int64_t row, int type) const
  {
    return contract(view.c6 + kMostReferences * kMostReferences * view.pair(row, type),
                    view.weights[row],
                    static_cast<std::size_t>(view.references[view.rows.types[row]].n));
  }

  // sum over the references of `other`.
  static MLIP_DD_TERM double weighed(const double *values, const D3Weights &other)
  {
    double sum = 0.0;
    for (int q = 0; q < kMostReferences; ++q) sum += values[q] * other.weights[q / 4].values[q % 4];
    return sum;
  }

  // All triples of an owned atom with entry j of its neighbours.
  MLIP_DD_TERM void add_triples(std::int64_t row, const double *own, std::int64_t j,
                                LaneSums &sums) const
  {
    const PairView &rows = view.rows;
    const LanePair second = lane_pair(rows, own, j);
    const int type = rows.types[second.row];
    const Contracted near = contracted(row, type);
    const D3Weights &weights = view.weights[second.row];
    const double c6 = weighed(near.c6, weights), c6_slope = weighed(near.slope, weights);
    const double radius2 = view.pairs[view.pair(row, type)].three_body_radius2;
    const bool switching = switch_width > 0.0;
    const SmoothStep<double> step = switching ? triple_step(cutoff, switch_width, second.squared)
                                              : SmoothStep<double>{1.0, 0.0};
    const double reach2 = cutoff * cutoff;
    double energy = 0.0, by_side = 0.0;
    for (int other = 0; other < rows.n_types; ++other) {
      const Contracted to_k = contracted(row, other), far = contracted(second.row, other);
      const double radii = radius2 * view.pairs[view.pair(row, other)].three_body_radius2 *
                           view.pairs[view.pair(second.row, other)].three_body_radius2;
      const NeighbourRun run = rows.runs[row * rows.n_types + other];
      for (std::int64_t k = run.begin; k < run.end; ++k) {
        const LanePair third = lane_pair(rows, own, k);
        if (k == j || third.squared >= reach2) continue;
        const double x = third.x - second.x, y = third.y - second.y, z = third.z - second.z;
        const double far_side = x * x + y * y + z * z;
        if (far_side >= reach2) continue;
        const double inverse = 1.0 / (second.squared * third.squared * far_side);
        const D3Weights &of_k = view.weights[third.row];
        const double product = c6 * weighed(to_k.c6, of_k) * weighed(far.c6, of_k);
        const double ratio = radii * inverse;    // (R R R / r r r)^2
        D3TripleTerm<double> term = triple_term(second.squared, third.squared, far_side, inverse,
                                                std::sqrt(product * inverse) * inverse,
                                                ratio * ratio * ratio / std::cbrt(ratio));
        if (switching)
          term = switched(term, step, triple_step(cutoff, switch_width, third.squared),
                          triple_step(cutoff, switch_width, far_side).value);
        energy += term.energy;
        by_side += term.by_a;
      }
    }
    // Each triple is met with two neighbours; a third of it is the atom's, and C6 of a pair counts
    // as its square root.
    sums.energy += scale / 3.0 * energy;
    if (c6 > 0.0) sums.extra += 0.5 * scale * energy * c6_slope / c6;
    add_pair(second, 2.0 * scale * by_side / second.squared, sums);
  }
};

}    // namespace mlip_dd
