#include "pair_mlip_dd_kokkos.h"

#include <accelerator_kokkos.h>
#include <atom_masks.h>
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
// And what the host reads where models, per-atom fields or messages need it there.
constexpr std::uint64_t kFieldsOnHost = Q_MASK | DVECTOR_MASK | DARRAY_MASK;

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
  constexpr bool device = std::is_same_v<DeviceType, LMPDeviceType>;
  NeighRequest *request = neighbor->find_request(this);
  request->set_kokkos_host(!device);
  request->set_kokkos_device(device);
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::compute(int eflag, int vflag)
{
  const mlip_dd::SharedStream stream;
  atomKK->sync(execution_space, datamask_read);
  const bool watched = state_->options.log && !counts_ && neighbor->ago != 0;
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
void PairMlipDDKokkos<DeviceType>::find_owners()
{
  source_ = std::make_unique<mlip_dd::KokkosSource<DeviceType>>(*lmp, state_->host);
  mlip_dd::run_together(
      lmp, [&] { source_->read_atoms(state_->element_of_type, state_->units, *list); });
  comm->forward_comm(this, mlip_dd::HostGraph::kOwnerNumbers);
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::rebuild_graphs()
{
  source_->take_owners();
  state_->pipeline->rebuild(*source_, neighbor->skin * state_->units.length);
}

template <class DeviceType>
bool PairMlipDDKokkos<DeviceType>::runs_on_host() const
{
  const mlip_dd::Pipeline &pipeline = *state_->pipeline;
  for (std::size_t step = 0; step < pipeline.size(); ++step)
    if (!pipeline.runner(step).potential().takes_device_graph()) return true;
  return false;
}

template <class DeviceType>
mlip_dd::HostStep PairMlipDDKokkos<DeviceType>::present_step()
{
  std::uint64_t needed = EMPTY_MASK;
  if (runs_on_host()) needed |= X_MASK;
  if (!state_->host_fields.empty()) needed |= kFieldsOnHost;
  if (needed) atomKK->sync(Host, needed);
  return PairMlipDD::present_step();
}

template <class DeviceType>
int PairMlipDDKokkos<DeviceType>::pack_forward_comm_kokkos(int n, DAT::tdual_int_1d list,
                                                           DAT::tdual_double_1d &buffer, int, int *)
{
  source_->pack_owners(n, list, buffer);
  return n * mlip_dd::HostGraph::kOwnerNumbers;
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::unpack_forward_comm_kokkos(int n, int first,
                                                              DAT::tdual_double_1d &buffer)
{
  source_->unpack_owners(n, first, buffer);
}

// Where LAMMPS communicates from the host: comm_style tiled, or as `package kokkos` says.
template <class DeviceType>
int PairMlipDDKokkos<DeviceType>::pack_forward_comm(int n, int *list, double *buffer, int pbc,
                                                    int *pbcs)
{
  if (travelling_) return PairMlipDD::pack_forward_comm(n, list, buffer, pbc, pbcs);
  return source_->pack_owners(n, list, buffer);
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::unpack_forward_comm(int n, int first, double *buffer)
{
  if (travelling_) return PairMlipDD::unpack_forward_comm(n, first, buffer);
  source_->unpack_owners(n, first, buffer);
}

// Per-atom outputs are the host's, and travel from there.
template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::forward_values(double *values)
{
  execution_space = Host;
  PairMlipDD::forward_values(values);
  execution_space = ExecutionSpaceFromDevice<DeviceType>::space;
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::take_outputs()
{
  if (state_->spec->committee()) state_->pipeline->fill_arrays();
  if (state_->options.charges_to_q) atomKK->sync(Host, Q_MASK);
  PairMlipDD::take_outputs();
}

template <class DeviceType>
void PairMlipDDKokkos<DeviceType>::forward_outputs()
{
  PairMlipDD::forward_outputs();
  if (state_->options.charges_to_q) atomKK->modified(Host, Q_MASK);
}

template <class DeviceType>
std::vector<std::string> PairMlipDDKokkos<DeviceType>::describe_setting() const
{
  std::vector<std::string> lines = PairMlipDD::describe_setting();
  lines.push_back(std::string("mlip/dd: KOKKOS on ") + DeviceType::name() + ", positions in " +
                  (sizeof(KK_FLOAT) == 8 ? "double" : "single") + " precision, forces in " +
                  (sizeof(KK_ACC_FLOAT) == 8 ? "double" : "single"));
  return lines;
}

template class PairMlipDDKokkos<LMPDeviceType>;
#ifdef LMP_KOKKOS_GPU
template class PairMlipDDKokkos<LMPHostType>;
#endif

}    // namespace LAMMPS_NS
