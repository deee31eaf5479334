// DFT-D3 for the elements of one model: everything that pairs of types need, in eV and Angstrom.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "potentials/dftd3/d3_parameters.h"
#include "potentials/dftd3/d3_reference.h"
#include "potentials/pair/packed4.h"

namespace mlip_dd {

// References an element can have; kernels read them four at a time.
inline constexpr int kMostReferences = 8;

// The energy of a pair is -C6 (s6 f6(r) + s8 ratio f8(r)), where ratio = C8 / C6.
struct D3Pair {
  double counting_radius = 0.0;    // R of the counting function, Angstrom
  double s6 = 0.0;
  double s8_ratio = 0.0;    // s8 C8 / C6, Angstrom^2
  // Becke-Johnson: R0^6 and R0^8. Zero damping: (sr6 R0)^2 and (sr8 R0)^2.
  double damping6 = 0.0, damping8 = 0.0;
  double three_body_radius2 = 0.0;    // (4/3 R0)^2, Angstrom^2
  std::vector<double> c6;    // [kMostReferences, kMostReferences] eV Angstrom^6, zero where unset
};

struct D3Model {
  int n_types = 0;
  bool zero_damping = false;
  double cutoff = 0.0, cn_cutoff = 0.0, switch_width = 0.0, cn_switch_width = 0.0;    // Angstrom
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

// How much of each reference of its element an atom is, at its coordination number: Gaussian
// weights, normalised. They give C6 of a pair as a bilinear form, since the weight of a pair of
// references is the product of both.
struct D3Weights {
  std::array<Packed4, 2> weights{};
  std::array<Packed4, 2> slopes{};    // by the coordination number
};

D3Weights d3_weights(const D3Model &model, int type, double coordination);

}    // namespace mlip_dd
