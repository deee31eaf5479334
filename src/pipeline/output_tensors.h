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

// Puts the tensors of `output`, if it has any, into its arrays on the host, where its fields and
// gradients go too.
void copy_to_arrays(PotentialOutput &output);

}    // namespace mlip_dd
