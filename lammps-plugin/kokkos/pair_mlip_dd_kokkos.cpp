#include "pair_mlip_dd_kokkos.h"

#include <accelerator_kokkos.h>
#include <atom_masks.h>
#include <force.h>
#include <kokkos.h>
#include <memory_kokkos.h>
#include <neigh_request.h>
#include <neighbor.h>

#include <algorithm>

#include "atom_outputs.h"
#include "base/error.h"
#include "device_tensors.h"
#include "failure.h"
#include "kokkos_source.h"
#include "pair_state.h"
#include "run_log.h"

namespace LAMMPS_NS {

namespace {

// What compute() reads and changes where Kokkos keeps it. LAMMPS copies what these say, and no
// more.
constexpr std::uint64_t kRead = X_MASK | F_MASK | TYPE_MASK | MASK_MASK | ENERGY_MASK | VIRIAL_MASK;
constexpr std::uint64_t kModify = F_MASK | ENERGY_MASK | VIRIAL_MASK;

// Where LAMMPS keeps what atoms carry into a model.
std::uint64_t mask_of(const std::string &field)
{
  return field == "charges" ? Q_MASK : DVECTOR_MASK | DARRAY_MASK;
}

}    // namespace

template <class DeviceType>
PairMlipDDKokkos<DeviceType>::PairMlipDDKokkos(LAMMPS *lammps) : PairMlipDD(lammps)
{
  kokkosable = 1;
  execution_space = ExecutionSpaceFromDevice<DeviceType>::space;
  datamask_read = kRead;
  datamask_modify = kModify;
}

template <class DeviceType>
PairMlipDDKokkos<DeviceType>::~PairMlipDDKokkos()
{
  if (copymode) return;
  memoryKK->destroy_kokkos(k_eatom, eatom);
  memoryKK->destroy_kokkos(k_vatom, vatom);
  memoryKK->destroy_kokkos(k_cvatom, cvatom);
}

template <class DeviceType>
std::string PairMlipDDKokkos<DeviceType>::device() const
{
  if (std::is_same_v<DeviceType, LMPHostType> && !std::is_same_v<DeviceType, LMPDeviceType>)
    return state_->options.device == "auto" ? "cpu" : state_->options.device;
  // Kokkos has chosen this rank's GPU already.
  const std::string &asked = state_->options.device;
  const at::Device here = mlip_dd::torch_device<DeviceType>();
  if (here.is_cuda() && asked.rfind("cuda:", 0) == 0 && asked != here.str())
    throw mlip_dd::Error({"the model must be on the GPU that Kokkos has chosen for this rank",
                          asked + ", Kokkos: " + here.str(), "pair_style mlip/dd",
                          "Remove the keyword, or write `device cuda`"});
  return here.is_cuda() && (asked == "auto" || asked == "cuda") ? here.str() : asked;
}

template <class DeviceType>
int PairMlipDDKokkos<DeviceType>::default_threads() const
{
  return std::max(1, lmp->kokkos->nthreads);
}

// A full list, also where the others of `package kokkos neigh half` are half: edges end at owned
// atoms.
template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::init_style()
{
  PairMlipDD::init_style();
  counts_.reset();
  constexpr bool device = std::is_same_v<DeviceType, LMPDeviceType>;
  NeighRequest *request = neighbor->find_request(this);
  request->set_kokkos_host(!device);
  request->set_kokkos_device(device);
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::compute(int eflag, int vflag)
{
  require_set_up();
  const mlip_dd::SharedStream stream;
  atomKK->sync(execution_space, datamask_read);
  const bool watched = state_->options.log && !counts_ && !rebuilds_now();
  if (watched) {
    const mlip_dd::StepWatch watch;
    const mlip_dd::Traffic before = traffic();
    PairMlipDD::compute(eflag, vflag);
    counts_ = watch.counts();
    traffic_ = traffic();
    traffic_.gathers -= before.gathers;
    traffic_.scatters -= before.scatters;
    traffic_.system_sums -= before.system_sums;
  } else {
    PairMlipDD::compute(eflag, vflag);
  }
  atomKK->modified(execution_space, F_MASK);
}

template <class DeviceType>
mlip_dd::Traffic PairMlipDDKokkos<DeviceType>::traffic() const
{
  mlip_dd::Traffic total;
  for (const mlip_dd::Traffic &one : mlip_dd::traffic_of(*state_->pipeline)) total += one;
  return total;
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::finish()
{
  PairMlipDD::finish();
  if (!counts_) return;
  log_lines(mlip_dd::describe_counts(
      *state_->communicator, "one step between rebuilds",
      {{"kernels of Kokkos", counts_->kernels},
       {"operators of torch", counts_->operators},
       {"exchanges", traffic_.gathers + traffic_.scatters + traffic_.system_sums},
       {"waits for the device", counts_->waits},
       {"copies host-device", counts_->copies},
       {"bytes host-device", counts_->bytes}}));
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::prepare_arrays(int eflag, int vflag)
{
  ev_init(eflag, vflag, 0);
  if (eflag_atom) {
    memoryKK->destroy_kokkos(k_eatom, eatom);
    memoryKK->create_kokkos(k_eatom, eatom, maxeatom, "mlip/dd:eatom");
  }
  if (vflag_atom) {
    memoryKK->destroy_kokkos(k_vatom, vatom);
    memoryKK->create_kokkos(k_vatom, vatom, maxvatom, "mlip/dd:vatom");
  }
  if (cvflag_atom) {
    memoryKK->destroy_kokkos(k_cvatom, cvatom);
    memoryKK->create_kokkos(k_cvatom, cvatom, maxcvatom, "mlip/dd:cvatom");
  }
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::refuse_removed_pairs()
{
  if (atom->molecular != Atom::ATOMIC) atomKK->sync(Host, TAG_MASK | TYPE_MASK | SPECIAL_MASK);
  PairMlipDD::refuse_removed_pairs();
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::find_owners()
{
  if (!source_) source_ = std::make_unique<mlip_dd::KokkosSource<DeviceType>>(*lmp);
  mlip_dd::run_together(lmp, [&] {
    source_->read_atoms(state_->element_of_type, state_->units, *list, state_->host);
  });
  forward_from(kArrays, mlip_dd::HostGraph::kOwnerNumbers);
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::forward_from(ExecutionSpace space, int numbers)
{
  execution_space = space;
  comm->forward_comm(this, numbers);
  execution_space = ExecutionSpaceFromDevice<DeviceType>::space;
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::rebuild_graphs()
{
  source_->take_owners();
  state_->pipeline->rebuild(*source_, neighbor->skin * state_->units.length);
}

// Each field and the positions where the model runs that takes them.
template <class DeviceType>
mlip_dd::HostStep PairMlipDDKokkos<DeviceType>::present_step()
{
  const mlip_dd::Pipeline &pipeline = *state_->pipeline;
  std::uint64_t on_host = EMPTY_MASK, on_device = EMPTY_MASK;
  std::vector<std::string> host_fields;
  for (std::size_t step = 0; step < pipeline.size(); ++step) {
    const bool here = pipeline.runner(step).graph().device != nullptr;
    if (!here) on_host |= X_MASK;
    for (const std::string &field : pipeline.wiring().host_fields[step]) {
      (here ? on_device : on_host) |= mask_of(field);
      if (!here) host_fields.push_back(field);
    }
  }
  if (on_host) atomKK->sync(Host, on_host);
  if (on_device) atomKK->sync(execution_space, on_device);
  return state_->host.step(*lmp, state_->units, host_fields, (on_host & X_MASK) != 0);
}

template <class DeviceType>
int PairMlipDDKokkos<DeviceType>::pack_forward_comm_kokkos(int n, DAT::tdual_int_1d list,
                                                           DAT::tdual_double_1d &buffer, int, int *)
{
  if (!charges_travel_) {
    source_->pack_owners(n, list, buffer);
    return n * mlip_dd::HostGraph::kOwnerNumbers;
  }
  const auto atoms = list.template view<DeviceType>();
  const auto to = buffer.template view<DeviceType>();
  const auto charges = atomKK->k_q.template view<DeviceType>();
  Kokkos::parallel_for(
      "mlip_dd::pack_charges", Kokkos::RangePolicy<DeviceType>(0, n),
      KOKKOS_LAMBDA(const int k) { to(k) = charges(atoms(k)); });
  return n;
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::unpack_forward_comm_kokkos(int n, int first,
                                                              DAT::tdual_double_1d &buffer)
{
  if (!charges_travel_) return source_->unpack_owners(n, first, buffer);
  const auto from = buffer.template view<DeviceType>();
  const auto charges = atomKK->k_q.template view<DeviceType>();
  Kokkos::parallel_for(
      "mlip_dd::unpack_charges", Kokkos::RangePolicy<DeviceType>(0, n),
      KOKKOS_LAMBDA(const int k) { charges(first + k) = from(k); });
  // LAMMPS may have copied them to the host meanwhile, without these.
  atomKK->modified(kArrays, Q_MASK);
}

// Where LAMMPS communicates from the host: comm_style tiled, or as `package kokkos` says.
template <class DeviceType>
int PairMlipDDKokkos<DeviceType>::pack_forward_comm(int n, int *list, double *buffer, int pbc,
                                                    int *pbcs)
{
  if (travelling_) return PairMlipDD::pack_forward_comm(n, list, buffer, pbc, pbcs);
  if (!charges_travel_) return source_->pack_owners(n, list, buffer);
  atomKK->sync(Host, Q_MASK);
  for (int k = 0; k < n; ++k) buffer[k] = atom->q[list[k]];
  return n;
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::unpack_forward_comm(int n, int first, double *buffer)
{
  if (travelling_) return PairMlipDD::unpack_forward_comm(n, first, buffer);
  if (!charges_travel_) return source_->unpack_owners(n, first, buffer);
  atomKK->sync(Host, Q_MASK);
  std::copy_n(buffer, n, atom->q + first);
  atomKK->modified(Host, Q_MASK);
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::forward_charges()
{
  charges_travel_ = true;
  forward_from(kArrays, 1);
  charges_travel_ = false;
  // Kspace styles sum them up in LAMMPS's own array.
  if (force->kspace) atomKK->sync(Host, Q_MASK);
}

// What fix pair asks for is an array of the host, and travels from there.
template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::forward_values(double *values)
{
  travelling_ = values;
  forward_from(Host, 1);
  travelling_ = nullptr;
}

template <class DeviceType>
std::vector<std::string> PairMlipDDKokkos<DeviceType>::describe_setting() const
{
  std::vector<std::string> lines = PairMlipDD::describe_setting();
  lines.push_back(std::string("mlip/dd: KOKKOS on ") + DeviceType::name() + ", positions in " +
                  (sizeof(KK_FLOAT) == 8 ? "double" : "single") + " precision, forces in " +
                  (sizeof(KK_ACC_FLOAT) == 8 ? "double" : "single") +
                  (mlip_dd::prefers_host_graphs() ? ", host's graphs where models take them" : ""));
  return lines;
}

template class PairMlipDDKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class PairMlipDDKokkos<LMPHostType>;
#endif

}    // namespace LAMMPS_NS
