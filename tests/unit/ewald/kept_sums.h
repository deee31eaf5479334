// Where a lattice sum adds what it finds, for tests that call one directly.
#pragma once

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>

#include <vector>

#include "catch.h"
#include "ewald/charged_system.h"
#include "potentials/coulomb/charge_tensors.h"

namespace mlip_dd::test {

inline CoulombTensors kept_sums(std::int64_t n)
{
  return {at::zeros({n}, at::kDouble), at::zeros({n, 3}, at::kDouble), at::zeros({9}, at::kDouble),
          at::zeros({n, 9}, at::kDouble)};
}

// [n] or [n, width], in the memory of `values`.
inline at::Tensor tensor_over(const std::vector<double> &values, std::int64_t width = 0)
{
  const auto n = static_cast<std::int64_t>(values.size());
  auto *data = const_cast<double *>(values.data());
  return width ? at::from_blob(data, {n / width, width}, at::kDouble)
               : at::from_blob(data, {n}, at::kDouble);
}

inline std::vector<double> values_of(const at::Tensor &tensor)
{
  const at::Tensor values = tensor.contiguous();
  const double *begin = values.const_data_ptr<double>();
  return {begin, begin + values.numel()};
}

// Expects the same to within `tolerance` of each kind's largest, and that none is all zero.
inline void check_same(const CoulombTensors &found, const CoulombTensors &expected,
                       double tolerance)
{
  for (const auto &kind : {&CoulombTensors::potential, &CoulombTensors::forces,
                           &CoulombTensors::virial, &CoulombTensors::node_virial}) {
    const std::vector<double> values = values_of(expected.*kind);
    const double largest = largest_difference(values, std::vector<double>(values.size()));
    CHECK(largest > 0.1);
    CHECK(largest_difference(values_of(found.*kind), values) < tolerance * largest);
  }
}

}    // namespace mlip_dd::test
