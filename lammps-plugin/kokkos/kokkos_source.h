// Models' graphs from LAMMPS's Kokkos arrays and neighbour list.
#pragma once

#include <ATen/core/Tensor.h>
#include <kokkos_base.h>

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph_source.h"
#include "host_graph.h"

namespace mlip_dd {

struct KokkosCandidates;

// Atoms as of the last reneighbouring. Rows and owners are worked out on the device; the host's
// HostGraph is given a copy of them, for models that run there and for outputs that LAMMPS wants
// there.
template <class DeviceType>
class KokkosSource final : public GraphSource {
 public:
  KokkosSource(LAMMPS_NS::LAMMPS &lammps, HostGraph &host) : lammps_(lammps), host_(host) {}

  // Not collective. Takes LAMMPS's atoms after they were exchanged, and numbers the owned rows.
  // From read_atoms() to take_owners() the owners of ghosts travel, by LAMMPS's communication: two
  // numbers per atom, on the device, or on the host where LAMMPS communicates from there.
  void read_atoms(const std::vector<std::int32_t> &element_of_type, const HostUnits &units,
                  const LAMMPS_NS::NeighList &list);
  void pack_owners(int n, const DAT::tdual_int_1d &list, DAT::tdual_double_1d &buffer) const;
  void unpack_owners(int n, int first, const DAT::tdual_double_1d &buffer);
  int pack_owners(int n, const int *list, double *buffer);
  void unpack_owners(int n, int first, const double *buffer);
  void take_owners();

  std::string device() const override;

  HaloPlan build(Communicator &communicator, std::span<const std::int32_t> model_types,
                 const BuildOptions &options, AtomGraph &graph) override;

  // int64 [n_owned]: the atom of each owned row.
  const at::Tensor &owned_atoms() const { return owned_atoms_; }

  // Of build(); public, since the compiler of device code wants functions with kernels to be.
  HaloPlan build_on_device(Communicator &communicator, std::span<const std::int32_t> model_types,
                           const BuildOptions &options, AtomGraph &graph);
  static void close_gaps(const at::Tensor &counts, KokkosCandidates &candidates);

 private:
  HaloPlan build_on_host(Communicator &communicator, std::span<const std::int32_t> model_types,
                         const BuildOptions &options, AtomGraph &graph);
  NeighbourList host_neighbours();

  LAMMPS_NS::LAMMPS &lammps_;
  HostGraph &host_;
  HostUnits units_;
  const LAMMPS_NS::NeighList *list_ = nullptr;
  at::Tensor elements_;       // int64 [local atoms and ghosts] index into elements; < 0: outside
  at::Tensor owners_;         // int64 [local atoms and ghosts, 2] rank and row
  at::Tensor host_owners_;    // on the host, where LAMMPS communicates from there
  at::Tensor owned_atoms_;
  std::vector<std::int32_t> numneigh_, neighbours_;    // as in HostGraph
};

}    // namespace mlip_dd
