// A graph whose arrays lie where the host program keeps its atoms, on any device, filled by the
// host program's own kernels: models take them as tensors, and nothing passes through the host.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "graph/host_atoms.h"
#include "graph/virial_share.h"

namespace mlip_dd {

// Candidates laid out for kernels of pair potentials, as PairRows of potentials/pair/pair_rows.h,
// on one device.
struct DevicePairs {
  int n_types = 0;
  at::Tensor types;          // int32 [n_owned + n_halo]
  at::Tensor owned_atoms;    // int32 [n_owned]
  at::Tensor runs;           // int64 [n_owned * n_types, 2]
  at::Tensor neighbours;     // int32, filled up with an atom out of every reach
  at::Tensor atoms;          // float64 [host atoms + 1, 4]
};

// Rows and order of edges are those of AtomGraph. All tensors are on one device; real ones are
// float64, in the units of AtomGraph. Not collective.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;

  // As the function of this name in atom_graph.h, at the atoms' present positions: refills
  // edge_index and vectors.
  virtual void select_edges(double cutoff) = 0;

  // As the functions of these names in consolidate/edge_forces.h. gradient [E, 3], of the edges
  // selected last; forces [n_owned + n_halo, 3] and node_virial [n_owned + n_halo, 9] are added to,
  // in an order that depends on the graph alone.
  virtual void add_edge_forces(const at::Tensor &gradient, at::Tensor &forces) const = 0;
  virtual void add_edge_node_virial(const at::Tensor &gradient, VirialShare share,
                                    at::Tensor &node_virial) const = 0;

  // For potentials that work on the candidates of owned rows, as set_rows() and set_positions() in
  // pair_rows.h: at a reneighbouring, and then in each step.
  virtual void lay_out_pairs(int n_types, DevicePairs &pairs) const = 0;
  virtual void place_pairs(DevicePairs &pairs) const = 0;

  // [n_owned, 3], of the owned rows as they stand.
  virtual at::Tensor owned_positions() const = 0;

  // [n_owned, width], what the host's atoms carry under this name as HostStep::fields has it;
  // undefined where they carry nothing of the name.
  virtual at::Tensor owned_field(const std::string &name) const = 0;

  std::int64_t n_candidates = 0;    // pairs that may become edges before the next reneighbouring
  at::Tensor types;                 // int64 [n_owned + n_halo]
  at::Tensor edge_index;    // int64 [2, E], receivers and senders; as made by empty_edge_index
  at::Tensor vectors;       // [E, 3]
};

// As edge_unit_shifts() in edge_shifts.h: [E, 3], with row_positions [n_owned + n_halo, 3].
at::Tensor edge_unit_shifts(const DeviceGraph &graph, const at::Tensor &row_positions,
                            const Cell &cell);

}    // namespace mlip_dd
