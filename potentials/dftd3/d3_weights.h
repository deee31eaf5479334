// How much of each reference of its element an atom is.
#pragma once

#include "potentials/pair/number.h"
#include "potentials/pair/packed4.h"

namespace mlip_dd {

// References an element can have; kernels read them four at a time.
inline constexpr int kMostReferences = 8;

// Gaussian weights, normalised. They give C6 of a pair as a bilinear form, since the weight of a
// pair of references is the product of both.
struct D3Weights {
  Packed4 weights[2] = {};
  Packed4 slopes[2] = {};    // by the coordination number
};

// Of an atom with this coordination number; `references` [n] are those of its element's.
MLIP_DD_TERM D3Weights d3_weights(const double *references, int n, double coordination)
{
  constexpr double kGaussian = 4.0;    // k3 of Grimme et al. (2010), eq. 16
  double nearest = HUGE_VAL;           // square of the distance to a reference
  for (int p = 0; p < n; ++p) {
    const double off = coordination - references[p];
    nearest = off * off < nearest ? off * off : nearest;
  }
  // Counted from the largest: an atom far from all references is its nearest one, not 0 / 0.
  double weights[kMostReferences] = {};
  double norm = 0.0, slope = 0.0;
  for (int p = 0; p < n; ++p) {
    const double off = coordination - references[p];
    weights[p] = NumberOf<double>::exponential(-kGaussian * (off * off - nearest));
    norm += weights[p];
    slope += weights[p] * -2.0 * kGaussian * off;
  }
  D3Weights result;
  for (int p = 0; p < n; ++p) {
    const double weight = weights[p] / norm;
    const double own_slope = -2.0 * kGaussian * (coordination - references[p]);
    result.weights[p / 4].values[p % 4] = weight;
    result.slopes[p / 4].values[p % 4] = weight * (own_slope - slope / norm);
  }
  return result;
}

}    // namespace mlip_dd
