#include "potentials/pair/lane_results.h"

#include <ATen/ATen.h>

#include <cstddef>

#include "pipeline/output_tensors.h"
#include "potentials/pair/lanes.h"

namespace mlip_dd {

namespace {

// Where the numbers of LaneSums stand, one double after the other.
constexpr std::int64_t kForce = offsetof(LaneSums, force) / sizeof(double);
constexpr std::int64_t kEnergy = offsetof(LaneSums, energy) / sizeof(double);
constexpr std::int64_t kMoment = offsetof(LaneSums, moment) / sizeof(double);
constexpr std::int64_t kExtra = offsetof(LaneSums, extra) / sizeof(double);

void add_to_tensors(const at::Tensor &sums, PotentialOutput &output)
{
  OutputTensors &tensors = *output.tensors;
  const at::Tensor energies = sums.select(1, kEnergy).mul(0.5);
  std::vector<at::Tensor> components;    // indices would have to be sent to a GPU
  for (int k = 0; k < 9; ++k) components.push_back(sums.select(1, kMoment + moment_place(k)));
  const at::Tensor virials = at::stack(components, 1).mul(-0.5);
  tensors.node_energy.add_(energies);
  tensors.forces.narrow(0, 0, sums.size(0)).add_(sums.narrow(1, kForce, 3));
  if (tensors.node_virial.defined()) tensors.node_virial.narrow(0, 0, sums.size(0)).add_(virials);
  const at::Tensor totals = at::cat({energies.sum().view({1}), virials.sum(0)}).cpu();
  const double *total = totals.const_data_ptr<double>();
  output.energy += total[0];
  for (std::size_t k = 0; k < 9; ++k) output.virial[k] += total[1 + k];
}

void add_to_arrays(const LaneSums *sums, std::size_t n, PotentialOutput &output)
{
  for (std::size_t row = 0; row < n; ++row) {
    const LaneSums &own = sums[row];
    output.node_energy[row] += 0.5 * own.energy;
    output.energy += 0.5 * own.energy;
    for (std::size_t a = 0; a < 3; ++a) output.forces[3 * row + a] += own.force[a];
    for (std::size_t k = 0; k < 9; ++k) {
      const double half = -0.5 * own.moment[moment_place(static_cast<int>(k))];
      output.virial[k] += half;
      if (!output.node_virial.empty()) output.node_virial[9 * row + k] += half;
    }
  }
}

}    // namespace

void add_lane_sums(const at::Tensor &sums, PotentialOutput &output)
{
  if (output.tensors) return add_to_tensors(sums, output);
  const at::Tensor on_host = sums.cpu();
  add_to_arrays(reinterpret_cast<const LaneSums *>(on_host.const_data_ptr<double>()),
                static_cast<std::size_t>(sums.size(0)), output);
}

at::Tensor extra_of(const at::Tensor &sums) { return sums.select(1, kExtra).contiguous(); }

}    // namespace mlip_dd
