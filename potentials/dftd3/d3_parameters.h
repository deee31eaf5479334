// What a spec file says of DFT-D3: damping, its parameters, cutoffs and switches. No torch.
#pragma once

#include <string>
#include <variant>

#include "potentials/dftd3/d3_functionals.h"
#include "spec/model_spec.h"

namespace mlip_dd {

struct D3Parameters {
  std::variant<D3BeckeJohnson, D3Zero> damping;
  std::string functional;            // empty where the numbers are given
  double cutoff = 0.0;               // of pairs, Angstrom
  double cn_cutoff = 0.0;            // of neighbours counted for coordination numbers, Angstrom
  double switch_width = 0.0;         // below cutoff, Angstrom; 0: cut off as it is
  double cn_switch_width = 0.0;      // below cn_cutoff, likewise
  double s9 = 0.0;                   // of the three-body term; 0: it is not asked for
  double three_body_cutoff = 0.0;    // of each side of a triple, Angstrom
  double three_body_switch_width = 0.0;    // below it, likewise
  std::string reference;                   // file of reference values; empty: where it usually is
};

// Throws Error naming key, value and cure.
D3Parameters read_d3_parameters(const ModelSpec &model);

}    // namespace mlip_dd
