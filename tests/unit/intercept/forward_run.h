// Runs a model's source under interception on virtual ranks, without a file or a pipeline around
// it, and compares with one rank.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/virtual_system.h"

namespace mlip_dd::test {

inline constexpr double kForwardCutoff = 3.0;    // Angstrom

struct ForwardResult {
  double energy = 0.0;
  at::Tensor node_energy;      // [n] by system atom
  at::Tensor gradient_sum;     // [n, 3]: sum of edge gradients at each receiver
  std::int64_t gathers = 0;    // of one rank
};

struct ForwardSetting {
  double selection_cutoff = kForwardCutoff;    // edges shorter than this are given to the model
  bool keep_constant_features = false;
  int evaluations = 1;
  bool intercept = true;
};

// Runs forward(types, edge_index, edge_vectors) -> [n] on virtual ranks and collects by system
// atom.
ForwardResult run_decomposed(const std::string &source, const PeriodicSystem &system,
                             const std::vector<int> &owners, int ranks,
                             const ForwardSetting &setting = {});

// The largest absolute value; 0 for an empty tensor.
double largest(const at::Tensor &tensor);

// Checks that energies and gradients on `ranks` are those of one rank.
void check_forward(const std::string &source, const PeriodicSystem &system,
                   const std::vector<int> &owners, int ranks, const ForwardSetting &setting = {});

// Source of two layers; `gather` is how the layer reads its senders' features, from x, receivers,
// senders, edge_index and w; `prepare` stands before.
std::string two_layers(const std::string &gather, const std::string &prepare = "");

// Atoms of two types in a triclinic periodic cell.
PeriodicSystem forward_bulk(unsigned seed, std::int64_t atoms = 40);

}    // namespace mlip_dd::test
