// How much of each reference of its element an atom is.
#pragma once

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

}    // namespace mlip_dd
