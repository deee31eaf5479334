// As edge_forces.h and position_forces.h, for models on a DeviceGraph: gradients in, OutputTensors
// out, on the graph's device. Only the nine numbers of the virial reach the host.
#pragma once

#include <ATen/core/Tensor.h>

#include "graph/device_graph.h"
#include "pipeline/potential.h"

namespace mlip_dd {

// gradient [E, 3] by edge vectors, float64: adds forces, virial, and per-atom virials where
// `output` has them.
void add_edge_gradient(const DeviceGraph &graph, const at::Tensor &gradient,
                       PotentialOutput &output);

// gradient, positions [n, 3] of the first n rows, float64: adds forces and virial.
void add_position_gradient(const at::Tensor &gradient, const at::Tensor &positions,
                           PotentialOutput &output);

// Forces [n, 3] and a virial [3, 3] that a model made itself.
void add_forces(const at::Tensor &forces, const at::Tensor &virial, PotentialOutput &output);

}    // namespace mlip_dd
