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

// Whether the environment has MLIP_DD_HOST_GRAPHS: potentials that can also work on the host's
// arrays then do, as with `device cpu` beside a GPU, which tests of Kokkos on a CPU would not see.
bool prefers_host_graphs();

// Atoms as of the last reneighbouring. Rows and owners are worked out on the device; the host's
// HostGraph is given a copy of them, for models that run there and for outputs that LAMMPS wants
// there.
template <class DeviceType>
class KokkosSource final : public GraphSource {
 public:
  explicit KokkosSource(LAMMPS_NS::LAMMPS &lammps) : lammps_(lammps) {}

  // Not collective. Takes LAMMPS's atoms after they were exchanged, and numbers the owned rows.
  // `host` gets its copy in take_owners(), and must live until the next call.
  // From read_atoms() to take_owners() the owners of ghosts travel, by LAMMPS's communication: two
  // numbers per atom, on the device, or on the host where LAMMPS communicates from there.
  void read_atoms(const std::vector<std::int32_t> &element_of_type, const HostUnits &units,
                  const LAMMPS_NS::NeighList &list, HostGraph &host);
  void pack_owners(int n, const DAT::tdual_int_1d &list, DAT::tdual_double_1d &buffer) const;
  void unpack_owners(int n, int first, const DAT::tdual_double_1d &buffer);
  int pack_owners(int n, const int *list, double *buffer);
  void unpack_owners(int n, int first, const double *buffer);
  void take_owners();

  std::string device() const override;    // "none": see prefers_host_graphs()

  HaloPlan build(Communicator &communicator, std::span<const std::int32_t> model_types,
                 const BuildOptions &options, AtomGraph &graph) override;

  // int64 [n_owned]: the atom of each owned row.
  const at::Tensor &owned_atoms() const { return owned_atoms_; }

  // Of build(); public, since the compiler of device code wants functions with kernels to be.
  HaloPlan build_on_device(Communicator &communicator, std::span<const std::int32_t> model_types,
                           const BuildOptions &options, AtomGraph &graph);

 private:
  HaloPlan build_on_host(Communicator &communicator, std::span<const std::int32_t> model_types,
                         const BuildOptions &options, AtomGraph &graph);
  NeighbourList host_neighbours();

  LAMMPS_NS::LAMMPS &lammps_;
  HostGraph *host_ = nullptr;
  HostUnits units_;
  const LAMMPS_NS::NeighList *list_ = nullptr;
  at::Tensor elements_;       // int64 [local atoms and ghosts] index into elements; < 0: outside
  at::Tensor owners_;         // int64 [local atoms and ghosts, 2] rank and row
  at::Tensor host_owners_;    // on the host, where LAMMPS communicates from there
  at::Tensor owned_atoms_;
  std::vector<std::int32_t> numneigh_, neighbours_;    // as in HostGraph
};

}    // namespace mlip_dd
