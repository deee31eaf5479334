// What a potential gives on a DeviceGraph, in place of the arrays of PotentialOutput.
#pragma once

#include <ATen/core/Tensor.h>

#include "pipeline/potential.h"

namespace mlip_dd {

// float64, on the graph's device; rows as in PotentialOutput.
struct OutputTensors {
  at::Tensor node_energy;             // [n_owned]
  at::Tensor forces;                  // [n_owned + n_halo, 3]; owned rows alone once brought home
  at::Tensor node_virial;             // the same with 9; undefined unless asked for
  at::Tensor centroid_virial = {};    // the same, where PotentialOutput has one
};

// The results of the owned rows, the first `n_owned`, where `output` has them, in tensors or
// arrays: what is added to these tensors is added there.
OutputTensors owned_results(PotentialOutput &output, std::int64_t n_owned);

// Puts the tensors of `output`, if it has any, into its arrays on the host, where its fields and
// gradients go too.
void copy_to_arrays(PotentialOutput &output);

}    // namespace mlip_dd
