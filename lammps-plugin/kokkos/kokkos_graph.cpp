#include "kokkos_graph.h"

#include <ATen/ATen.h>
#include <accelerator_kokkos.h>
#include <lammps.h>

#include <utility>

#include "device_tensors.h"
#include "intercept/interception.h"
#include "potentials/pair/pair_view.h"

namespace mlip_dd {

namespace {

using Index = std::int64_t;

template <class View>
struct Separation {
  View positions;
  double length;    // LAMMPS's unit in Angstrom

  KOKKOS_INLINE_FUNCTION void operator()(Index receiver, Index sender, double *vector) const
  {
    for (int a = 0; a < 3; ++a)
      vector[a] = length * positions(sender, a) - length * positions(receiver, a);
  }
};

KOKKOS_INLINE_FUNCTION double squared(const double *vector)
{
  return vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2];
}

// The sums over a row's edges, as receiver and as sender, read through pointers of the device.
struct RowEdges {
  Index receivers;
  const Index *edge_offsets;
  const Index *sender_offsets;
  const Index *by_sender;
  const Index *edges;
};

// Where an atom's numbers are in LAMMPS's arrays.
template <class View>
struct InColumn {
  View values;
  KOKKOS_INLINE_FUNCTION double operator()(Index atom, int) const { return values(atom); }
};

template <class View>
struct InTable {
  View values;
  KOKKOS_INLINE_FUNCTION double operator()(Index atom, int k) const { return values(atom, k); }
};

template <class View>
struct InProperty {
  View values;
  int property;
  KOKKOS_INLINE_FUNCTION double operator()(Index atom, int) const { return values(property, atom); }
};

// [rows, width] float64: factor * take(atom of the row, component).
template <class DeviceType, class Take>
at::Tensor take_rows(const at::Tensor &atoms, int width, double factor, const Take &take)
{
  const Index *atom = atoms.const_data_ptr<Index>();
  at::Tensor rows = at::empty({atoms.size(0), width}, atoms.options().dtype(at::kDouble));
  double *to = rows.mutable_data_ptr<double>();
  Kokkos::parallel_for(
      "mlip_dd::take_rows",
      Kokkos::RangePolicy<DeviceType, Kokkos::IndexType<Index>>(0, atoms.size(0)),
      KOKKOS_LAMBDA(const Index row) {
        for (int k = 0; k < width; ++k) to[width * row + k] = factor * take(atom[row], k);
      });
  return rows;
}

}    // namespace

KokkosCandidates candidates_of(const AtomGraph &graph, const at::Device &device)
{
  const CandidateList &list = graph.candidates;
  const auto tensor = [&device](const auto &values, at::ScalarType type) {
    return at::tensor(values).to(device, type);
  };
  const at::Tensor offsets = tensor(list.offsets, at::kLong);
  const auto receivers = static_cast<Index>(list.receivers());
  KokkosCandidates candidates;
  candidates.n_rows = graph.n_rows();
  candidates.receiver_atoms = tensor(list.receiver_atoms, at::kLong);
  candidates.runs =
      at::stack({offsets.narrow(0, 0, receivers), offsets.narrow(0, 1, receivers)}, 1);
  candidates.sender_atoms = tensor(list.sender_atoms, at::kInt);
  candidates.rows_of_atoms = at::cat(
      {tensor(list.atom_rows, at::kLong), at::full({1}, graph.n_rows(), offsets.options())});
  candidates.count = static_cast<Index>(list.size());
  return candidates;
}

template <class DeviceType>
KokkosGraph<DeviceType>::KokkosGraph(const LAMMPS_NS::LAMMPS &lammps, const HostUnits &units,
                                     Index n_owned, KokkosCandidates candidates,
                                     at::Tensor types_of_rows)
    : lammps_(lammps), units_(units), n_owned_(n_owned), candidates_(std::move(candidates))
{
  types = std::move(types_of_rows);
  n_candidates = candidates_.count;
}

template <class DeviceType>
void KokkosGraph<DeviceType>::order_by_sender()
{
  sender_rows_ = candidates_.rows_of_atoms.index_select(0, candidates_.sender_atoms);
  by_sender_ = sender_rows_.argsort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
  sender_offsets_ = at::searchsorted(sender_rows_.index_select(0, by_sender_),
                                     at::arange(candidates_.n_rows + 1, sender_rows_.options()));
  edge_offsets_ =
      at::zeros({candidates_.receiver_atoms.size(0) + 1}, candidates_.receiver_atoms.options());
  edges_ = at::full_like(sender_rows_, -1);
}

template <class DeviceType>
void KokkosGraph<DeviceType>::select_edges(double cutoff)
{
  if (!by_sender_.defined()) order_by_sender();
  const auto x = lammps_.atomKK->k_x.template view<DeviceType>();
  const Separation<std::decay_t<decltype(x)>> separation{x, units_.length};
  const double cutoff_squared = cutoff * cutoff;
  const Index receivers = candidates_.receiver_atoms.size(0);
  const Index *receiver_atoms = candidates_.receiver_atoms.const_data_ptr<Index>();
  const Index *runs = candidates_.runs.const_data_ptr<Index>();
  const std::int32_t *sender_atoms = candidates_.sender_atoms.const_data_ptr<std::int32_t>();
  const Index *sender_rows = sender_rows_.const_data_ptr<Index>();
  Index *edge_offsets = edge_offsets_.mutable_data_ptr<Index>();
  Index *edges = edges_.mutable_data_ptr<Index>();
  using Rows = Kokkos::RangePolicy<DeviceType, Kokkos::IndexType<Index>>;

  Kokkos::parallel_for(
      "mlip_dd::count_edges", Rows(0, receivers), KOKKOS_LAMBDA(const Index row) {
        Index count = 0;
        double vector[3];
        for (Index k = runs[2 * row]; k < runs[2 * row + 1]; ++k) {
          separation(receiver_atoms[row], sender_atoms[k], vector);
          const bool near = squared(vector) < cutoff_squared;
          edges[k] = near ? 0 : -1;
          count += near;
        }
        edge_offsets[row + 1] = count;
      });
  Index found = 0;
  Kokkos::parallel_scan(
      "mlip_dd::edge_offsets", Rows(0, receivers),
      KOKKOS_LAMBDA(const Index row, Index &sum, const bool last) {
        sum += edge_offsets[row + 1];
        if (last) edge_offsets[row + 1] = sum;
      },
      found);

  const at::TensorOptions on_device = edges_.options();
  edge_index = empty_edge_index(found, on_device);
  vectors = at::empty({found, 3}, on_device.dtype(at::kDouble));
  Index *to_receivers = edge_index.mutable_data_ptr<Index>();
  Index *to_senders = edge_index[1].mutable_data_ptr<Index>();
  double *to_vectors = vectors.mutable_data_ptr<double>();
  Kokkos::parallel_for(
      "mlip_dd::fill_edges", Rows(0, receivers), KOKKOS_LAMBDA(const Index row) {
        Index edge = edge_offsets[row];
        for (Index k = runs[2 * row]; k < runs[2 * row + 1]; ++k) {
          if (edges[k] < 0) continue;
          to_receivers[edge] = row;
          to_senders[edge] = sender_rows[k];
          separation(receiver_atoms[row], sender_atoms[k], to_vectors + 3 * edge);
          edges[k] = edge++;
        }
      });
}

template <class DeviceType>
void KokkosGraph<DeviceType>::add_edge_forces(const at::Tensor &gradient, at::Tensor &forces) const
{
  const RowEdges rows{candidates_.receiver_atoms.size(0), edge_offsets_.const_data_ptr<Index>(),
                      sender_offsets_.const_data_ptr<Index>(), by_sender_.const_data_ptr<Index>(),
                      edges_.const_data_ptr<Index>()};
  const at::Tensor by_edge = gradient.contiguous();
  const double *g = by_edge.const_data_ptr<double>();
  double *f = forces.mutable_data_ptr<double>();
  Kokkos::parallel_for(
      "mlip_dd::edge_forces",
      Kokkos::RangePolicy<DeviceType, Kokkos::IndexType<Index>>(0, candidates_.n_rows),
      KOKKOS_LAMBDA(const Index row) {
        double sum[3] = {0.0, 0.0, 0.0};
        if (row < rows.receivers)
          for (Index e = rows.edge_offsets[row]; e < rows.edge_offsets[row + 1]; ++e)
            for (int a = 0; a < 3; ++a) sum[a] += g[3 * e + a];
        for (Index s = rows.sender_offsets[row]; s < rows.sender_offsets[row + 1]; ++s) {
          const Index e = rows.edges[rows.by_sender[s]];
          if (e < 0) continue;
          for (int a = 0; a < 3; ++a) sum[a] -= g[3 * e + a];
        }
        for (int a = 0; a < 3; ++a) f[3 * row + a] += sum[a];
      });
}

template <class DeviceType>
void KokkosGraph<DeviceType>::add_edge_node_virial(const at::Tensor &gradient, VirialShare share,
                                                   at::Tensor &node_virial) const
{
  const RowEdges rows{candidates_.receiver_atoms.size(0), edge_offsets_.const_data_ptr<Index>(),
                      sender_offsets_.const_data_ptr<Index>(), by_sender_.const_data_ptr<Index>(),
                      edges_.const_data_ptr<Index>()};
  const at::Tensor by_edge = gradient.contiguous();
  const double *g = by_edge.const_data_ptr<double>();
  const double *r = vectors.const_data_ptr<double>();
  const double part = receivers_part(share);
  double *w = node_virial.mutable_data_ptr<double>();
  Kokkos::parallel_for(
      "mlip_dd::edge_virials",
      Kokkos::RangePolicy<DeviceType, Kokkos::IndexType<Index>>(0, candidates_.n_rows),
      KOKKOS_LAMBDA(const Index row) {
        double sum[9] = {};
        if (row < rows.receivers)
          for (Index e = rows.edge_offsets[row]; e < rows.edge_offsets[row + 1]; ++e)
            for (int k = 0; k < 9; ++k) sum[k] -= part * r[3 * e + k / 3] * g[3 * e + k % 3];
        for (Index s = rows.sender_offsets[row]; s < rows.sender_offsets[row + 1]; ++s) {
          const Index e = rows.edges[rows.by_sender[s]];
          if (e < 0) continue;
          for (int k = 0; k < 9; ++k) sum[k] -= (1.0 - part) * r[3 * e + k / 3] * g[3 * e + k % 3];
        }
        for (int k = 0; k < 9; ++k) w[9 * row + k] += sum[k];
      });
}

template <class DeviceType>
void KokkosGraph<DeviceType>::lay_out_pairs(int n_types, DevicePairs &pairs) const
{
  const Index atoms = candidates_.rows_of_atoms.size(0) - 1;
  const at::TensorOptions on_device = candidates_.runs.options();
  pairs.n_types = n_types;
  pairs.types = (n_types == 1 ? at::zeros_like(types) : types).to(at::kInt);
  pairs.owned_atoms = candidates_.receiver_atoms.narrow(0, 0, n_owned_).to(at::kInt);
  fit(pairs.atoms, {atoms + 1, 4}, on_device.dtype(at::kDouble));
  fit(pairs.runs, {n_owned_ * n_types, 2}, on_device);
  const Index *rows = candidates_.rows_of_atoms.const_data_ptr<Index>();
  double *packed = pairs.atoms.mutable_data_ptr<double>();
  Kokkos::parallel_for(
      "mlip_dd::rows_of_atoms",
      Kokkos::RangePolicy<DeviceType, Kokkos::IndexType<Index>>(0, atoms + 1),
      KOKKOS_LAMBDA(const Index atom) {
        for (int a = 0; a < 3; ++a) packed[4 * atom + a] = kOutOfReach;
        packed[4 * atom + 3] = atom < atoms ? static_cast<double>(rows[atom]) : 0.0;
      });
  if (n_types == 1 && candidates_.padded)
    take_runs(pairs);
  else
    sort_by_type(pairs);
}

// The candidates as they are.
template <class DeviceType>
void KokkosGraph<DeviceType>::take_runs(DevicePairs &pairs) const
{
  pairs.neighbours = candidates_.sender_atoms;
  const Index *from = candidates_.runs.const_data_ptr<Index>();
  Index *to = pairs.runs.mutable_data_ptr<Index>();
  Kokkos::parallel_for(
      "mlip_dd::take_runs", Kokkos::RangePolicy<DeviceType, Kokkos::IndexType<Index>>(0, n_owned_),
      KOKKOS_LAMBDA(const Index row) {
        to[2 * row] = from[2 * row];
        to[2 * row + 1] = from[2 * row] + whole_runs(from[2 * row + 1] - from[2 * row]);
      });
}

template <class DeviceType>
void KokkosGraph<DeviceType>::sort_by_type(DevicePairs &pairs) const
{
  const int n_types = pairs.n_types;
  at::Tensor counts = at::zeros({n_owned_ * n_types}, candidates_.runs.options());
  const Index *candidates = candidates_.runs.const_data_ptr<Index>();
  const std::int32_t *sender_atoms = candidates_.sender_atoms.const_data_ptr<std::int32_t>();
  const Index *rows = candidates_.rows_of_atoms.const_data_ptr<Index>();
  const std::int32_t *types_of_rows = pairs.types.const_data_ptr<std::int32_t>();
  Index *count = counts.mutable_data_ptr<Index>();
  Index *runs = pairs.runs.mutable_data_ptr<Index>();
  using Rows = Kokkos::RangePolicy<DeviceType, Kokkos::IndexType<Index>>;
  Kokkos::parallel_for(
      "mlip_dd::count_pairs", Rows(0, n_owned_), KOKKOS_LAMBDA(const Index row) {
        for (Index k = candidates[2 * row]; k < candidates[2 * row + 1]; ++k)
          ++count[n_types * row + types_of_rows[rows[sender_atoms[k]]]];
      });
  Index total = 0;
  Kokkos::parallel_scan(
      "mlip_dd::runs_of_pairs", Rows(0, n_owned_ * n_types),
      KOKKOS_LAMBDA(const Index run, Index &sum, const bool last) {
        const Index begin = sum;
        sum += whole_runs(count[run]);
        if (!last) return;
        runs[2 * run] = count[run] = begin;
        runs[2 * run + 1] = sum;
      },
      total);
  fit(pairs.neighbours, {total}, candidates_.sender_atoms.options());
  std::int32_t *neighbours = pairs.neighbours.mutable_data_ptr<std::int32_t>();
  const auto filler = static_cast<std::int32_t>(candidates_.rows_of_atoms.size(0) - 1);
  Kokkos::parallel_for(
      "mlip_dd::fill_pairs", Rows(0, n_owned_), KOKKOS_LAMBDA(const Index row) {
        Index *next = count + n_types * row;
        for (Index k = candidates[2 * row]; k < candidates[2 * row + 1]; ++k)
          neighbours[next[types_of_rows[rows[sender_atoms[k]]]]++] = sender_atoms[k];
        for (int t = 0; t < n_types; ++t)
          for (Index k = next[t]; k < runs[2 * (n_types * row + t) + 1]; ++k)
            neighbours[k] = filler;
      });
}

template <class DeviceType>
void KokkosGraph<DeviceType>::place_pairs(DevicePairs &pairs) const
{
  const auto x = lammps_.atomKK->k_x.template view<DeviceType>();
  const double length = units_.length;
  double *packed = pairs.atoms.mutable_data_ptr<double>();
  Kokkos::parallel_for(
      "mlip_dd::place_pairs",
      Kokkos::RangePolicy<DeviceType, Kokkos::IndexType<Index>>(0, pairs.atoms.size(0) - 1),
      KOKKOS_LAMBDA(const Index atom) {
        // Read first: writes could be to the captured length, for all that the compiler knows.
        const double place[3] = {length * x(atom, 0), length * x(atom, 1), length * x(atom, 2)};
        for (int a = 0; a < 3; ++a) packed[4 * atom + a] = place[a];
      });
}

template <class DeviceType>
at::Tensor KokkosGraph<DeviceType>::owned_positions() const
{
  const auto x = lammps_.atomKK->k_x.template view<DeviceType>();
  return take_rows<DeviceType>(candidates_.receiver_atoms.narrow(0, 0, n_owned_), 3, units_.length,
                               InTable<std::decay_t<decltype(x)>>{x});
}

template <class DeviceType>
at::Tensor KokkosGraph<DeviceType>::owned_field(const std::string &name) const
{
  LAMMPS_NS::AtomKokkos &atom = *lammps_.atomKK;
  const at::Tensor atoms = candidates_.receiver_atoms.narrow(0, 0, n_owned_);
  if (name == "charges") {
    if (!atom.q_flag) return {};
    const auto charges = atom.k_q.template view<DeviceType>();
    return take_rows<DeviceType>(atoms, 1, units_.charge,
                                 InColumn<std::decay_t<decltype(charges)>>{charges});
  }
  int is_double = 0, columns = 0;
  const int index = atom.find_custom(name.c_str(), is_double, columns);
  if (index < 0 || !is_double) return {};
  if (columns == 0) {
    const auto properties = atom.k_dvector.template view<DeviceType>();
    return take_rows<DeviceType>(atoms, 1, 1.0,
                                 InProperty<std::decay_t<decltype(properties)>>{properties, index});
  }
  const auto table = atom.k_darray.view_host()[index].k_view.template view<DeviceType>();
  return take_rows<DeviceType>(atoms, columns, 1.0, InTable<std::decay_t<decltype(table)>>{table});
}

template class KokkosGraph<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class KokkosGraph<LMPHostType>;
#endif

}    // namespace mlip_dd
