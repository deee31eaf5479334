// From the models' results to LAMMPS's Kokkos arrays.
#include <ATen/ATen.h>
#include <accelerator_kokkos.h>
#include <atom_masks.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "device_tensors.h"
#include "kokkos_source.h"
#include "pair_mlip_dd_kokkos.h"
#include "pair_state.h"
#include "pipeline/field_rows.h"
#include "pipeline/output_tensors.h"
#include "virial_order.h"

namespace LAMMPS_NS {

namespace {

// The arrays of models that run on the host, on the device of `like`.
at::Tensor on_device_of(const at::Tensor &like, const std::vector<double> &values)
{
  if (values.empty()) return {};
  const auto n = static_cast<std::int64_t>(values.size());
  return at::from_blob(const_cast<double *>(values.data()), {n}, at::kDouble).to(like.device());
}

mlip_dd::OutputTensors arrays_of(const mlip_dd::PotentialOutput &output, const at::Tensor &like)
{
  return {on_device_of(like, output.node_energy), on_device_of(like, output.forces),
          on_device_of(like, output.node_virial), on_device_of(like, output.centroid_virial)};
}

// to(atom, 0 .. Take::kWidth) += factor * take(row of from, component), for each owned row.
template <class DeviceType, class View, class Take>
void add_columns(const char *name, const at::Tensor &atoms, const at::Tensor &from, double factor,
                 const View &to, const Take &take)
{
  const std::int64_t *atom = atoms.const_data_ptr<std::int64_t>();
  const double *values = from.const_data_ptr<double>();
  Kokkos::parallel_for(
      name, Kokkos::RangePolicy<DeviceType>(0, static_cast<int>(atoms.size(0))),
      KOKKOS_LAMBDA(const int row) {
        // Computed first: writes could be to the captured factor, for all that the compiler knows.
        const std::int64_t i = atom[row];
        double sums[Take::kWidth];
        for (int k = 0; k < Take::kWidth; ++k) sums[k] = to(i, k) + factor * take(values, row, k);
        for (int k = 0; k < Take::kWidth; ++k) to(i, k) = sums[k];
      });
}

struct TakeForce {
  static constexpr int kWidth = 3;
  KOKKOS_INLINE_FUNCTION double operator()(const double *values, std::int64_t row, int k) const
  {
    return values[3 * row + k];
  }
};

struct TakeSymmetric {
  static constexpr int kWidth = 6;
  KOKKOS_INLINE_FUNCTION double operator()(const double *values, std::int64_t row, int k) const
  {
    return mlip_dd::symmetric_part(values + 9 * row, k);
  }
};

struct TakeCentroid {
  static constexpr int kWidth = 9;
  KOKKOS_INLINE_FUNCTION double operator()(const double *values, std::int64_t row, int k) const
  {
    return values[9 * row + mlip_dd::centroid_entry(k)];
  }
};

template <class DeviceType, class View>
void add_energies(const at::Tensor &atoms, const at::Tensor &from, double factor, const View &to)
{
  const std::int64_t *atom = atoms.const_data_ptr<std::int64_t>();
  const double *values = from.const_data_ptr<double>();
  Kokkos::parallel_for(
      "mlip_dd::add_energies", Kokkos::RangePolicy<DeviceType>(0, static_cast<int>(atoms.size(0))),
      KOKKOS_LAMBDA(const int row) { to(atom[row]) += factor * values[row]; });
}

template <class DeviceType, class View>
void set_values(const at::Tensor &atoms, const at::Tensor &from, double factor, const View &to)
{
  const std::int64_t *atom = atoms.const_data_ptr<std::int64_t>();
  const double *values = from.const_data_ptr<double>();
  Kokkos::parallel_for(
      "mlip_dd::set_values", Kokkos::RangePolicy<DeviceType>(0, static_cast<int>(from.size(0))),
      KOKKOS_LAMBDA(const int row) { to(atom[row]) = factor * values[row]; });
}

constexpr std::size_t kArraysAtOnce = 4;
constexpr std::int64_t kValuesAtOnce = 8;    // of an array, for one item

struct ArraysAtOnce {
  const double *values[kArraysAtOnce] = {};
  std::int64_t size[kArraysAtOnce] = {};
};

// Whether some value is no finite number. One kernel and one wait for the device.
template <class DeviceType>
bool has_fault(const ArraysAtOnce &arrays)
{
  // Threads of a GPU read values that stand side by side, one of the host reads them in a row.
  constexpr bool in_a_row =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename DeviceType::memory_space>::accessible;
  const std::int64_t most = *std::max_element(std::begin(arrays.size), std::end(arrays.size));
  const std::int64_t items = (most + kValuesAtOnce - 1) / kValuesAtOnce;
  std::int64_t faults = 0;
  Kokkos::parallel_reduce(
      "mlip_dd::count_faults",
      Kokkos::RangePolicy<DeviceType, Kokkos::IndexType<std::int64_t>>(0, items),
      KOKKOS_LAMBDA(const std::int64_t item, std::int64_t &count) {
        const std::int64_t first = in_a_row ? kValuesAtOnce * item : item;
        const std::int64_t step = in_a_row ? 1 : items;
        double nothing = 0.0;    // or NaN
        for (std::size_t a = 0; a < kArraysAtOnce; ++a) {
          const std::int64_t after = first + kValuesAtOnce * step;
          const std::int64_t end = after < arrays.size[a] ? after : arrays.size[a];
          const double *values = arrays.values[a];
          for (std::int64_t k = first; k < end; k += step) nothing += values[k] - values[k];
        }
        count += nothing != 0.0;
      },
      faults);
  return faults != 0;
}

// Whether all numbers that a model on the device gave are finite.
template <class DeviceType>
bool finite(const mlip_dd::PotentialOutput &output)
{
  const mlip_dd::OutputTensors &tensors = *output.tensors;
  std::vector<at::Tensor> all{tensors.forces, tensors.node_energy, tensors.node_virial,
                              tensors.centroid_virial};
  for (const auto *fields : {&output.fields, &output.gradients})
    for (const auto &[name, field] : *fields)
      if (field.tensor) all.push_back(field.tensor->rows.contiguous());
  for (std::size_t first = 0; first < all.size(); first += kArraysAtOnce) {
    ArraysAtOnce arrays;
    for (std::size_t a = 0; a < kArraysAtOnce && first + a < all.size(); ++a) {
      const at::Tensor &values = all[first + a];
      if (!values.defined()) continue;
      arrays.values[a] = values.const_data_ptr<double>();
      arrays.size[a] = values.numel();
    }
    if (has_fault<DeviceType>(arrays)) return false;
  }
  double sum = output.energy;
  for (const double component : output.virial) sum += component;
  for (const auto &[name, system] : output.systems)
    for (const double value : system.values) sum += value;
  return std::isfinite(sum);
}

}    // namespace

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::add_rows(const mlip_dd::OutputTensors &rows)
{
  const at::Tensor &atoms = source_->owned_atoms();
  const double to_energy = state_->units.energy_to_host();
  if (rows.forces.defined())
    add_columns<DeviceType>("mlip_dd::add_forces", atoms, rows.forces,
                            state_->units.force_to_host(), atomKK->k_f.template view<DeviceType>(),
                            TakeForce());
  if (eflag_atom && rows.node_energy.defined())
    add_energies<DeviceType>(atoms, rows.node_energy, to_energy,
                             k_eatom.template view<DeviceType>());
  if (vflag_atom && rows.node_virial.defined())
    add_columns<DeviceType>("mlip_dd::add_virials", atoms, rows.node_virial, to_energy,
                            k_vatom.template view<DeviceType>(), TakeSymmetric());
  const at::Tensor &centroid =
      rows.centroid_virial.defined() ? rows.centroid_virial : rows.node_virial;
  if (cvflag_atom && centroid.defined())
    add_columns<DeviceType>("mlip_dd::add_centroid_virials", atoms, centroid, to_energy,
                            k_cvatom.template view<DeviceType>(), TakeCentroid());
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::add_results()
{
  add_sums();
  const mlip_dd::PotentialOutput &output = state_->pipeline->output();
  if (output.tensors) add_rows(*output.tensors);
  // Of several models, those on the device and those on the host are summed apart.
  if (!output.tensors || state_->pipeline->size() > 1)
    add_rows(arrays_of(output, source_->owned_atoms()));
  if (eflag_atom) {
    k_eatom.template modify<DeviceType>();
    k_eatom.sync_host();
  }
  if (vflag_atom) {
    k_vatom.template modify<DeviceType>();
    k_vatom.sync_host();
  }
  if (cvflag_atom) {
    k_cvatom.template modify<DeviceType>();
    k_cvatom.sync_host();
  }
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::take_charges()
{
  const at::Tensor &atoms = source_->owned_atoms();
  const mlip_dd::AtomField made =
      mlip_dd::on_device(state_->pipeline->output().fields.at("charges"), atoms.device());
  const at::Tensor rows = mlip_dd::rows_of(made).contiguous();
  // Atoms outside the model keep their charges.
  atomKK->sync(execution_space, Q_MASK);
  set_values<DeviceType>(atoms, rows, 1.0 / state_->units.charge,
                         atomKK->k_q.template view<DeviceType>());
  atomKK->modified(execution_space, Q_MASK);
}

// Looks for the atom only where there is one.
template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::require_finite()
{
  mlip_dd::Pipeline &pipeline = *state_->pipeline;
  bool all_finite = true, on_host = false;
  for (std::size_t step = 0; step < pipeline.size(); ++step) {
    const mlip_dd::PotentialOutput &output = pipeline.runner(step).output();
    if (output.tensors)
      all_finite = all_finite && finite<DeviceType>(output);
    else
      on_host = true;
  }
  if (all_finite && !on_host) return;
  if (!all_finite) pipeline.fill_arrays();
  atomKK->sync(Host, X_MASK | TYPE_MASK | TAG_MASK);
  PairMlipDD::require_finite();
}

template void PairMlipDDKokkos<LMPDeviceType>::add_results();
template void PairMlipDDKokkos<LMPDeviceType>::require_finite();
template void PairMlipDDKokkos<LMPDeviceType>::take_charges();
#ifdef LMP_KOKKOS_GPU
template void PairMlipDDKokkos<LMPHostType>::add_results();
template void PairMlipDDKokkos<LMPHostType>::require_finite();
template void PairMlipDDKokkos<LMPHostType>::take_charges();
#endif

}    // namespace LAMMPS_NS
