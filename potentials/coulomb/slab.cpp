#include "potentials/coulomb/slab.h"

#include "base/constants.h"

namespace mlip_dd {

SlabTerms slab_terms(const Lattice &lattice, int axis, const SlabMoments &moments, double constant)
{
  const auto a = static_cast<std::size_t>(axis);
  SlabTerms terms;
  terms.axis = axis;
  terms.height = lattice.heights[a];
  for (std::size_t b = 0; b < 3; ++b)
    terms.normal[b] = lattice.reciprocal[a][b] * terms.height / (2.0 * kPi);
  terms.factor = 4.0 * kPi * constant / lattice.volume;
  terms.charge = moments.charge;
  terms.first = moments.first;
  terms.offset = 0.5 * moments.second + moments.charge * terms.height * terms.height / 12.0;
  return terms;
}

double slab_energy(const SlabTerms &terms, const SlabMoments &moments)
{
  return 0.5 * terms.factor *
         (moments.first * terms.first - 0.5 * terms.charge * moments.second -
          terms.offset * moments.charge);
}

}    // namespace mlip_dd
