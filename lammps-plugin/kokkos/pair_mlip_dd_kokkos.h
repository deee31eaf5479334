// pair_style mlip/dd/kk: mlip/dd on LAMMPS's Kokkos arrays. What is no array is the plain style's.
#pragma once

#include <kokkos_base.h>
#include <kokkos_type.h>

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "halo/traffic.h"
#include "pair_mlip_dd.h"
#include "step_watch.h"

namespace mlip_dd {
template <class DeviceType>
class KokkosSource;
struct OutputTensors;
}    // namespace mlip_dd

namespace LAMMPS_NS {

template <class DeviceType>
class PairMlipDDKokkos : public PairMlipDD, public KokkosBase {
 public:
  using device_type = DeviceType;

  explicit PairMlipDDKokkos(LAMMPS *lammps);
  ~PairMlipDDKokkos() override;

  void init_style() override;
  void compute(int eflag, int vflag) override;
  void finish() override;

  int pack_forward_comm_kokkos(int n, DAT::tdual_int_1d list, DAT::tdual_double_1d &buffer, int,
                               int *) override;
  void unpack_forward_comm_kokkos(int n, int first, DAT::tdual_double_1d &buffer) override;
  int pack_forward_comm(int n, int *list, double *buffer, int, int *) override;
  void unpack_forward_comm(int n, int first, double *buffer) override;

  // Public, since the compiler of device code wants functions with kernels to be.
  void prepare_arrays(int eflag, int vflag) override;
  void refuse_removed_pairs() override;
  void find_owners() override;
  void rebuild_graphs() override;
  mlip_dd::HostStep present_step() override;
  void require_finite() override;
  void add_results() override;
  void add_rows(const mlip_dd::OutputTensors &rows);
  void take_charges() override;
  void forward_charges() override;
  void forward_values(double *values) override;

 protected:
  std::string device() const override;
  int default_threads() const override;
  std::vector<std::string> describe_setting() const override;

 private:
  std::unique_ptr<mlip_dd::KokkosSource<DeviceType>> source_;
  DAT::ttransform_kkacc_1d k_eatom;
  DAT::ttransform_kkacc_1d_6 k_vatom;
  DAT::ttransform_kkacc_1d_9 k_cvatom;
  // Of a step between two reneighbourings, for the log.
  std::optional<mlip_dd::StepCounts> counts_;
  mlip_dd::Traffic traffic_;
  bool charges_travel_ = false;    // by forward communication

  // What forward communication takes from Kokkos's arrays: where threads are Kokkos's device,
  // LAMMPS would have styles pack from its own.
  static constexpr ExecutionSpace kArrays =
      std::is_same_v<DeviceType, LMPDeviceType> ? Device : HostKK;
  void forward_from(ExecutionSpace space, int numbers);
  mlip_dd::Traffic traffic() const;    // of all models so far
};

}    // namespace LAMMPS_NS
