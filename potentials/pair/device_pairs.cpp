#include "potentials/pair/device_pairs.h"

#include <ATen/ATen.h>

#include <cstddef>

#include "pipeline/output_tensors.h"

namespace mlip_dd {

namespace {

// Where the numbers of LaneSums stand, one double after the other.
constexpr std::int64_t kNumbers = sizeof(LaneSums) / sizeof(double);
constexpr std::int64_t kForce = offsetof(LaneSums, force) / sizeof(double);
constexpr std::int64_t kEnergy = offsetof(LaneSums, energy) / sizeof(double);
constexpr std::int64_t kMoment = offsetof(LaneSums, moment) / sizeof(double);

static_assert(sizeof(Packed4) == 4 * sizeof(double));
static_assert(sizeof(NeighbourRun) == 2 * sizeof(std::int64_t));

}    // namespace

PairView view_of(const DevicePairs &pairs)
{
  return {pairs.n_types,
          pairs.owned_atoms.size(0),
          pairs.types.const_data_ptr<std::int32_t>(),
          pairs.owned_atoms.const_data_ptr<std::int32_t>(),
          reinterpret_cast<const NeighbourRun *>(pairs.runs.const_data_ptr<std::int64_t>()),
          pairs.neighbours.const_data_ptr<std::int32_t>(),
          reinterpret_cast<const Packed4 *>(pairs.atoms.const_data_ptr<double>())};
}

at::Tensor empty_lane_sums(std::int64_t n, const at::TensorOptions &options)
{
  return at::empty({n, kNumbers}, options.dtype(at::kDouble));
}

LaneSums *lane_sums(const at::Tensor &sums)
{
  return reinterpret_cast<LaneSums *>(sums.mutable_data_ptr<double>());
}

void add_lane_sums(const at::Tensor &sums, PotentialOutput &output)
{
  OutputTensors &tensors = *output.tensors;
  const at::Tensor energies = sums.select(1, kEnergy).mul(0.5);
  std::vector<at::Tensor> components;    // indices would have to be sent to a GPU
  for (const int place : kMomentPlace) components.push_back(sums.select(1, kMoment + place));
  const at::Tensor virials = at::stack(components, 1).mul(-0.5);
  tensors.node_energy.add_(energies);
  tensors.forces.add_(sums.narrow(1, kForce, 3));
  if (tensors.node_virial.defined()) tensors.node_virial.add_(virials);
  const at::Tensor totals = at::cat({energies.sum().view({1}), virials.sum(0)}).cpu();
  const double *total = totals.const_data_ptr<double>();
  output.energy += total[0];
  for (std::size_t k = 0; k < 9; ++k) output.virial[k] += total[1 + k];
}

}    // namespace mlip_dd
