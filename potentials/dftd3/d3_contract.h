// C6 of pairs as a bilinear form of both atoms' weights, for kernels: one side is contracted once
// and then serves all neighbours of a type.
#pragma once

#include <cstddef>

#include "potentials/dftd3/d3_weights.h"
#include "potentials/pair/number.h"

namespace mlip_dd {

// An atom's weights contracted with the C6 values of its pair with some element: what is left is a
// sum over the references of the neighbour.
struct Contracted {
  alignas(32) double c6[kMostReferences];
  alignas(32) double slope[kMostReferences];    // by the atom's coordination number
};

// `c6` [kMostReferences, kMostReferences] of the pair of elements; `references`: of the atom's own.
MLIP_DD_TERM Contracted contract(const double *c6, const D3Weights &own, std::size_t references)
{
  Contracted result{};
  for (std::size_t p = 0; p < references; ++p) {
    const double weight = own.weights[p / 4].values[p % 4];
    const double slope = own.slopes[p / 4].values[p % 4];
    for (std::size_t q = 0; q < kMostReferences; ++q) {
      result.c6[q] += weight * c6[kMostReferences * p + q];
      result.slope[q] += slope * c6[kMostReferences * p + q];
    }
  }
  return result;
}

}    // namespace mlip_dd
