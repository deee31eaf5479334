#include "kokkos_source.h"

#include <ATen/ATen.h>
#include <accelerator_kokkos.h>
#include <atom_masks.h>
#include <comm.h>
#include <lammps.h>
#include <neigh_list_kokkos.h>
#include <neighbor.h>

#include <cstdlib>
#include <memory>

#include "device_tensors.h"
#include "kokkos_graph.h"
#include "potentials/pair/pair_view.h"

namespace mlip_dd {

namespace {

using Index = std::int64_t;

at::Tensor on(const at::Device &device, std::span<const std::int32_t> values)
{
  return at::tensor(at::ArrayRef<std::int32_t>(values.data(), values.size()), at::kInt)
      .to(device, at::kLong);
}

std::vector<std::int32_t> ints_of(const at::Tensor &values)
{
  const at::Tensor host = values.to(at::kCPU, at::kInt).contiguous();
  const auto *begin = host.const_data_ptr<std::int32_t>();
  return {begin, begin + host.numel()};
}

// Offsets of runs from their lengths: [n] -> [n + 1].
at::Tensor offsets_of(const at::Tensor &counts)
{
  at::Tensor offsets = at::zeros({counts.size(0) + 1}, counts.options());
  offsets.narrow(0, 1, counts.size(0)).copy_(counts.cumsum(0));
  return offsets;
}

// The neighbours that LAMMPS lists.
template <class DeviceType>
struct ListedPairs {
  using Arrays = ArrayTypes<DeviceType>;
  decltype(std::declval<LAMMPS_NS::AtomKokkos>().k_x.template view<DeviceType>()) const x;
  typename Arrays::t_neighbors_2d neighbours;
  typename Arrays::t_int_1d count;
  double length;    // LAMMPS's unit in Angstrom

  KOKKOS_INLINE_FUNCTION Index atom(Index receiver, int k) const
  {
    return neighbours(receiver, k) & NEIGHMASK;
  }
  KOKKOS_INLINE_FUNCTION double squared(Index receiver, Index sender) const
  {
    double sum = 0.0;
    for (int a = 0; a < 3; ++a) {
      const double d = length * x(sender, a) - length * x(receiver, a);
      sum += d * d;
    }
    return sum;
  }
};

// Of a list whose cutoff is the wanted one, to rounding, all pairs may be taken.
constexpr double kSameReach = 1.0 - 1e-12;

}    // namespace

bool prefers_host_graphs() { return std::getenv("MLIP_DD_HOST_GRAPHS") != nullptr; }

template <class DeviceType>
void KokkosSource<DeviceType>::read_atoms(const std::vector<std::int32_t> &element_of_type,
                                          const HostUnits &units, const LAMMPS_NS::NeighList &list,
                                          HostGraph &host)
{
  units_ = units;
  host_ = &host;
  list_ = &list;
  host_owners_ = at::Tensor();
  const LAMMPS_NS::AtomKokkos &atom = *lammps_.atomKK;
  const at::Device device = torch_device<DeviceType>();
  const Index local = atom.nlocal, all = local + atom.nghost;
  const at::Tensor of_types = on(device, element_of_type);
  fit(elements_, {all}, of_types.options());
  fit(owners_, {all, 2}, of_types.options());
  at::Tensor owned = at::empty({local}, of_types.options());

  const auto types = atom.k_type.template view<DeviceType>();
  const auto masks = atom.k_mask.template view<DeviceType>();
  const int left_out = groups_without_neighbours(*lammps_.neighbor), rank = lammps_.comm->me;
  const Index *element_of = of_types.const_data_ptr<Index>();
  Index *elements = elements_.mutable_data_ptr<Index>();
  Index *owners = owners_.mutable_data_ptr<Index>();
  Index *owned_atoms = owned.mutable_data_ptr<Index>();
  Index n_owned = 0;
  Kokkos::parallel_scan(
      "mlip_dd::number_owned_rows",
      Kokkos::RangePolicy<DeviceType, Kokkos::IndexType<Index>>(0, all),
      KOKKOS_LAMBDA(const Index i, Index &row, const bool last) {
        const Index element = (masks(i) & left_out) != 0 ? kNotInModel : element_of[types(i)];
        const bool is_owned = i < local && element >= 0;
        if (last) {
          elements[i] = element;
          owners[2 * i] = rank;
          owners[2 * i + 1] = is_owned ? row : kNotInModel;
          if (is_owned) owned_atoms[row] = i;
        }
        row += is_owned;
      },
      n_owned);
  owned_atoms_ = owned.narrow(0, 0, n_owned);
}

template <class DeviceType>
void KokkosSource<DeviceType>::pack_owners(int n, const DAT::tdual_int_1d &list,
                                           DAT::tdual_double_1d &buffer) const
{
  const auto atoms = list.template view<DeviceType>();
  const auto to = buffer.template view<DeviceType>();
  const Index *owners = owners_.const_data_ptr<Index>();
  Kokkos::parallel_for(
      "mlip_dd::pack_owners", Kokkos::RangePolicy<DeviceType>(0, n), KOKKOS_LAMBDA(const int k) {
        for (int c = 0; c < 2; ++c)
          to(2 * k + c) = static_cast<double>(owners[2 * static_cast<Index>(atoms(k)) + c]);
      });
}

template <class DeviceType>
void KokkosSource<DeviceType>::unpack_owners(int n, int first, const DAT::tdual_double_1d &buffer)
{
  const auto from = buffer.template view<DeviceType>();
  Index *owners = owners_.mutable_data_ptr<Index>() + 2 * static_cast<Index>(first);
  Kokkos::parallel_for(
      "mlip_dd::unpack_owners", Kokkos::RangePolicy<DeviceType>(0, 2 * n),
      KOKKOS_LAMBDA(const int k) { owners[k] = static_cast<Index>(from(k)); });
}

template <class DeviceType>
int KokkosSource<DeviceType>::pack_owners(int n, const int *list, double *buffer)
{
  if (!host_owners_.defined()) host_owners_ = owners_.cpu();
  const Index *owners = host_owners_.const_data_ptr<Index>();
  for (int k = 0; k < n; ++k)
    for (int c = 0; c < 2; ++c)
      buffer[2 * k + c] = static_cast<double>(owners[2 * static_cast<Index>(list[k]) + c]);
  return HostGraph::kOwnerNumbers * n;
}

template <class DeviceType>
void KokkosSource<DeviceType>::unpack_owners(int n, int first, const double *buffer)
{
  if (!host_owners_.defined()) host_owners_ = owners_.cpu();
  Index *owners = host_owners_.mutable_data_ptr<Index>() + 2 * static_cast<Index>(first);
  for (int k = 0; k < 2 * n; ++k) owners[k] = static_cast<Index>(buffer[k]);
}

template <class DeviceType>
void KokkosSource<DeviceType>::take_owners()
{
  if (host_owners_.defined())
    owners_ = host_owners_.to(owners_.device());
  else
    host_owners_ = owners_.cpu();
  const at::Tensor elements = elements_.cpu();
  host_->set_atoms(
      {elements.const_data_ptr<Index>(), static_cast<std::size_t>(elements.numel())},
      {host_owners_.const_data_ptr<Index>(), static_cast<std::size_t>(host_owners_.numel())});
}

template <class DeviceType>
std::string KokkosSource<DeviceType>::device() const
{
  return prefers_host_graphs() ? "none" : torch_device<DeviceType>().str();
}

template <class DeviceType>
HaloPlan KokkosSource<DeviceType>::build(Communicator &communicator,
                                         std::span<const std::int32_t> model_types,
                                         const BuildOptions &options, AtomGraph &graph)
{
  return !options.on_device || options.layers_held > 1 || options.every_atom
             ? build_on_host(communicator, model_types, options, graph)
             : build_on_device(communicator, model_types, options, graph);
}

template <class DeviceType>
HaloPlan KokkosSource<DeviceType>::build_on_device(Communicator &communicator,
                                                   std::span<const std::int32_t> model_types,
                                                   const BuildOptions &options, AtomGraph &graph)
{
  const auto &list = static_cast<const LAMMPS_NS::NeighListKokkos<DeviceType> &>(*list_);
  const ListedPairs<DeviceType> pairs{lammps_.atomKK->k_x.template view<DeviceType>(),
                                      list.d_neighbors, list.d_numneigh, units_.length};
  const auto listed = list.d_ilist;
  const Index *owners = owners_.const_data_ptr<Index>();
  using Atoms = Kokkos::RangePolicy<DeviceType>;
  const Index n_owned = owned_atoms_.size(0);

  // Nearly all listed neighbours become candidates: each row gets room for all of its own, as pair
  // potentials read them.
  at::Tensor rooms = at::zeros({n_owned}, owners_.options());
  Index *room = rooms.mutable_data_ptr<Index>();
  Kokkos::parallel_for(
      "mlip_dd::count_neighbours", Atoms(0, list.inum), KOKKOS_LAMBDA(const int l) {
        const Index atom = listed(l), row = owners[2 * atom + 1];
        if (row != kNotInModel) room[row] = whole_runs(pairs.count(atom));
      });
  KokkosCandidates candidates;
  if (const auto last = std::dynamic_pointer_cast<KokkosGraph<DeviceType>>(graph.device))
    candidates = last->release();
  candidates.receiver_atoms = owned_atoms_;
  const at::Tensor offsets = offsets_of(rooms);
  fit(candidates.sender_atoms, {offsets[n_owned].template item<Index>()},
      owners_.options().dtype(at::kInt));
  candidates.runs = at::stack({offsets.narrow(0, 0, n_owned), offsets.narrow(0, 0, n_owned)}, 1);
  const at::Tensor inside = owners_.select(1, 1).ne(kNotInModel);
  at::Tensor met = at::zeros_like(inside);
  Index *runs = candidates.runs.template mutable_data_ptr<Index>();
  std::int32_t *sender = candidates.sender_atoms.template mutable_data_ptr<std::int32_t>();
  const auto filler = static_cast<std::int32_t>(owners_.size(0));
  const bool *in_model = inside.const_data_ptr<bool>();
  bool *is_met = met.mutable_data_ptr<bool>();
  const double reach = options.reach, reach_squared = reach * reach;
  const bool all_near = reach >= kSameReach * units_.length * lammps_.neighbor->cutneighmax;
  Kokkos::parallel_reduce(
      "mlip_dd::fill_candidates", Atoms(0, list.inum),
      KOKKOS_LAMBDA(const int l, Index &found) {
        const Index atom = listed(l), row = owners[2 * atom + 1];
        if (row == kNotInModel) return;
        const int listed_pairs = pairs.count(atom);
        const Index begin = runs[2 * row], end = begin + room[row];
        Index next = begin;
        for (int k = 0; k < listed_pairs; ++k) {
          const Index other = pairs.atom(atom, k);
          if (!all_near && pairs.squared(atom, other) >= reach_squared) continue;
          sender[next] = static_cast<std::int32_t>(other);
          is_met[other] = true;
          next += in_model[other];
        }
        runs[2 * row + 1] = next;
        found += next - begin;
        for (; next < end; ++next) sender[next] = filler;
      },
      candidates.count);
  candidates.padded = true;

  // Images of this rank's own atoms are folded onto them; those of others' share one halo row.
  const at::Tensor remote = met.logical_and(inside)
                                .logical_and(owners_.select(1, 0).ne(communicator.rank()))
                                .nonzero()
                                .squeeze(1);
  const at::Tensor remote_owners = owners_.index_select(0, remote).cpu();
  const Index *owner = remote_owners.const_data_ptr<Index>();
  std::vector<RowOwner> wanted(static_cast<std::size_t>(remote.size(0)));
  for (std::size_t k = 0; k < wanted.size(); ++k)
    wanted[k] = {static_cast<int>(owner[2 * k]), owner[2 * k + 1]};
  std::vector<Index> halo_rows(wanted.size());
  HaloPlan plan = build_halo_plan(communicator, n_owned, wanted, halo_rows);
  const at::Tensor rows_of_remote = at::tensor(halo_rows, at::kLong).to(owners_.device());
  candidates.n_rows = plan.n_rows();
  candidates.rows_of_atoms =
      at::cat({owners_.select(1, 1), at::full({1}, candidates.n_rows, owners_.options())})
          .index_copy_(0, remote, rows_of_remote);

  const at::Tensor of_atoms =
      model_types.empty()
          ? elements_
          : on(elements_.device(), model_types).index_select(0, elements_.clamp_min(0));
  at::Tensor types = at::empty({plan.n_rows()}, owners_.options());
  types.narrow(0, 0, n_owned).copy_(of_atoms.index_select(0, owned_atoms_));
  types.index_copy_(0, rows_of_remote, of_atoms.index_select(0, remote));

  graph = {};
  graph.n_owned = n_owned;
  graph.n_halo = plan.n_halo;
  graph.owned_atoms = ints_of(owned_atoms_);
  graph.device = std::make_shared<KokkosGraph<DeviceType>>(lammps_, units_, n_owned,
                                                           std::move(candidates), types);
  return plan;
}

// For models that run on the host, for wide halos, whose layers are found atom by atom, and where
// there is no image to ask.
template <class DeviceType>
HaloPlan KokkosSource<DeviceType>::build_on_host(Communicator &communicator,
                                                 std::span<const std::int32_t> model_types,
                                                 const BuildOptions &options, AtomGraph &graph)
{
  lammps_.atomKK->sync(LAMMPS_NS::Host, X_MASK);
  const NeighbourList neighbours = host_neighbours();
  HostGraphSource source(host_->atoms(lammps_, units_), neighbours);
  HaloPlan plan = source.build(communicator, model_types, options, graph);
  if (!options.on_device) return plan;
  const at::Device device = torch_device<DeviceType>();
  graph.device = std::make_shared<KokkosGraph<DeviceType>>(
      lammps_, units_, graph.n_owned, candidates_of(graph, device), on(device, graph.types));
  graph.candidates = {};
  return plan;
}

template <class DeviceType>
NeighbourList KokkosSource<DeviceType>::host_neighbours()
{
  const auto &list = static_cast<const LAMMPS_NS::NeighListKokkos<DeviceType> &>(*list_);
  const auto copy = [](const auto &view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  };
  const auto listed = copy(list.d_ilist), counts = copy(list.d_numneigh);
  const auto neighbours = copy(list.d_neighbors);
  numneigh_.assign(static_cast<std::size_t>(owners_.size(0)), 0);
  const int atoms = list.inum + (list.ghost ? list.gnum : 0);
  for (int k = 0; k < atoms; ++k)
    numneigh_[static_cast<std::size_t>(listed(k))] = counts(listed(k));
  return [this, neighbours](Index i) -> std::span<const std::int32_t> {
    const auto count = static_cast<std::size_t>(numneigh_[static_cast<std::size_t>(i)]);
    neighbours_.resize(count);
    for (std::size_t k = 0; k < count; ++k) neighbours_[k] = neighbours(i, k) & NEIGHMASK;
    return neighbours_;
  };
}

template class KokkosSource<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class KokkosSource<LMPHostType>;
#endif

}    // namespace mlip_dd
