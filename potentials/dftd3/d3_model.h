// DFT-D3 for the elements of one model: everything that pairs of types need, in eV and Angstrom.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "potentials/dftd3/d3_parameters.h"
#include "potentials/dftd3/d3_reference.h"
#include "potentials/dftd3/d3_terms.h"
#include "potentials/dftd3/d3_weights.h"
#include "potentials/pair/packed4.h"

namespace mlip_dd {

struct D3Pair : D3PairNumbers {
  std::vector<double> c6;    // [kMostReferences, kMostReferences] eV Angstrom^6, zero where unset
};

struct D3Model : D3Ranges {
  int n_types = 0;
  bool zero_damping = false;
  // s9 / sqrt(Hartree), eV^(-1/2), since C9 = sqrt(C6 C6 C6) holds in atomic units; 0: no triples
  double three_body_scale = 0.0;
  double three_body_cutoff = 0.0, three_body_switch_width = 0.0;    // Angstrom
  std::vector<std::vector<double>> references;    // [n_types] coordination numbers
  std::vector<D3Pair> pairs;                      // [n_types, n_types]

  const D3Pair &pair(int a, int b) const
  {
    return pairs[static_cast<std::size_t>(a * n_types + b)];
  }
};

// Throws Error when an element has more references than kMostReferences.
D3Model make_d3_model(const D3Parameters &parameters, const D3Reference &reference);

}    // namespace mlip_dd
