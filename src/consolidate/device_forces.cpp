#include "consolidate/device_forces.h"

#include <ATen/ATen.h>

#include "pipeline/output_tensors.h"

namespace mlip_dd {

namespace {

void add_virial(const at::Tensor &part, PotentialOutput &output)
{
  const at::Tensor host = part.to(at::kCPU, at::kDouble).contiguous();
  for (std::size_t k = 0; k < 9; ++k) output.virial[k] += host.const_data_ptr<double>()[k];
}

}    // namespace

void add_edge_gradient(const DeviceGraph &graph, const at::Tensor &gradient,
                       PotentialOutput &output)
{
  graph.add_edge_forces(gradient, output.tensors->forces);
  add_virial(graph.vectors.t().matmul(gradient).neg(), output);
  if (output.tensors->node_virial.defined())
    graph.add_edge_node_virial(gradient, VirialShare::ends, output.tensors->node_virial);
  if (output.tensors->centroid_virial.defined())
    graph.add_edge_node_virial(gradient, VirialShare::sender, output.tensors->centroid_virial);
}

void add_position_gradient(const at::Tensor &gradient, const at::Tensor &positions,
                           PotentialOutput &output)
{
  add_forces(gradient.neg(), positions.t().matmul(gradient).neg(), output);
}

void add_forces(const at::Tensor &forces, const at::Tensor &virial, PotentialOutput &output)
{
  at::Tensor &sum = output.tensors->forces;
  sum.narrow(0, 0, forces.size(0)).add_(forces.to(sum.device(), at::kDouble));
  add_virial(virial, output);
}

}    // namespace mlip_dd
