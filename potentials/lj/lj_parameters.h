// The Lennard-Jones 12-6 potential of each pair of elements, from a spec file. No torch.
#pragma once

#include <vector>

#include "potentials/lj/lj_terms.h"
#include "spec/model_spec.h"

namespace mlip_dd {

struct LjParameters {
  int n_types = 0;
  std::vector<LjPair> pairs;    // [n_types, n_types], symmetric
  double cutoff = 0.0;          // the largest
  double switch_width = 0.0;    // Angstrom below each pair's cutoff; 0: cut off as it is
  bool shifted = false;

  const LjPair &pair(int a, int b) const
  {
    return pairs[static_cast<std::size_t>(a * n_types + b)];
  }
};

// Of the model's units (metal or lj) nothing but the names depends. Throws Error naming key, value
// and cure.
LjParameters read_lj_parameters(const ModelSpec &model);

}    // namespace mlip_dd
