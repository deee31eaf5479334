// The charges and sums of sums.h as tensors, float64, all on the device where they are computed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "potentials/coulomb/sums.h"

namespace mlip_dd {

struct ChargeTensors {
  at::Tensor fractional;    // [n, 3]
  at::Tensor charges;       // [n]
  std::int64_t count() const { return charges.size(0); }
};

struct CoulombTensors {
  at::Tensor potential;      // [n]
  at::Tensor forces;         // [n, 3]
  at::Tensor virial;         // [9]
  at::Tensor node_virial;    // [n, 9]; undefined unless wanted, by all ranks or none
};

// Their memory, where they are on the CPU.
OwnedCharges spans_of(const ChargeTensors &atoms);
CoulombSums spans_of(const CoulombTensors &sums);

// Adds the virials [n, 9] of owned atoms to the rank's, and to theirs where these are wanted.
void add_virials(const at::Tensor &virials, const CoulombTensors &sums);

}    // namespace mlip_dd
