// A DeviceGraph over LAMMPS's Kokkos arrays: candidates chosen and forces summed by Kokkos kernels.
#pragma once

#include <utility>
#include <vector>

#include "graph/atom_graph.h"
#include "graph/device_graph.h"
#include "units.h"

namespace LAMMPS_NS {
class LAMMPS;
}

namespace mlip_dd {

// Candidates of one reneighbouring, by receiver row. Tensors on the device of Kokkos's arrays.
struct KokkosCandidates {
  std::int64_t n_rows = 0;      // owned and halo
  at::Tensor receiver_atoms;    // int64 [R] atom of each of the first R rows, 0 of one without any
  at::Tensor runs;              // int64 [R, 2] where the candidates of each begin and end
  at::Tensor sender_atoms;      // int32; what is in no run is the number of atoms
  at::Tensor rows_of_atoms;     // int64 [local atoms and ghosts + 1], of those above; last: n_rows
  std::int64_t count = 0;       // of candidates
  // Whether runs may be read on to a multiple of kPairsAtOnce.
  bool padded = false;
};

// A copy of the candidates that a graph has on the host.
KokkosCandidates candidates_of(const AtomGraph &graph, const at::Device &device);

template <class DeviceType>
class KokkosGraph final : public DeviceGraph {
 public:
  // Keeps `lammps`, whose arrays it reads; `types` as in DeviceGraph.
  KokkosGraph(const LAMMPS_NS::LAMMPS &lammps, const HostUnits &units, std::int64_t n_owned,
              KokkosCandidates candidates, at::Tensor types);

  // What it was made of, for the memory's next use; the graph is of no use afterwards.
  KokkosCandidates release() { return std::move(candidates_); }

  void select_edges(double cutoff) override;
  void add_edge_forces(const at::Tensor &gradient, at::Tensor &forces) const override;
  void add_edge_node_virial(const at::Tensor &gradient, VirialShare share,
                            at::Tensor &node_virial) const override;
  void lay_out_pairs(int n_types, DevicePairs &pairs) const override;
  void place_pairs(DevicePairs &pairs) const override;
  at::Tensor owned_positions() const override;
  at::Tensor owned_field(const std::string &name) const override;

  // Of lay_out_pairs(); public, since the compiler of device code wants functions with kernels to
  // be.
  void take_runs(DevicePairs &pairs) const;
  void sort_by_type(DevicePairs &pairs) const;

 private:
  void order_by_sender();

  const LAMMPS_NS::LAMMPS &lammps_;
  HostUnits units_;
  std::int64_t n_owned_;
  KokkosCandidates candidates_;
  // Where edges are used: the candidates by sender row, so that the sum over a row's edges runs in
  // one order.
  at::Tensor sender_rows_;       // int64, as sender_atoms; n_rows of what is in no run
  at::Tensor by_sender_;         // int64, the same
  at::Tensor sender_offsets_;    // int64 [n_rows + 1]
  at::Tensor edge_offsets_;      // int64 [R + 1] of the edges of each receiver
  at::Tensor edges_;             // int64, as sender_atoms: the candidate's edge, or -1
};

}    // namespace mlip_dd
