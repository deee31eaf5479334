#include "potentials/coulomb/charge_tensors.h"

#include <ATen/ops/sum.h>

namespace mlip_dd {

namespace {

std::span<double> span_of(const at::Tensor &tensor)
{
  if (!tensor.defined()) return {};
  return {tensor.mutable_data_ptr<double>(), static_cast<std::size_t>(tensor.numel())};
}

std::span<const double> values_of(const at::Tensor &tensor)
{
  return {tensor.const_data_ptr<double>(), static_cast<std::size_t>(tensor.numel())};
}

}    // namespace

OwnedCharges spans_of(const ChargeTensors &atoms)
{
  return {values_of(atoms.fractional), values_of(atoms.charges)};
}

CoulombSums spans_of(const CoulombTensors &sums)
{
  return {span_of(sums.potential), span_of(sums.forces), span_of(sums.node_virial),
          span_of(sums.virial).data()};
}

void add_virials(const at::Tensor &virials, const CoulombTensors &sums)
{
  sums.virial.add_(virials.sum(0));
  if (sums.node_virial.defined()) sums.node_virial.add_(virials);
}

}    // namespace mlip_dd
