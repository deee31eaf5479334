#include "potentials/ewald/structure_factor_lanes.h"

#include <ATen/ATen.h>

#include <cstddef>
#include <vector>

#include "base/timer.h"
#include "potentials/ewald/wave_lanes.h"
#include "potentials/pair/device_array.h"
#include "potentials/pair/run_lanes.h"

namespace mlip_dd {

namespace {

// The indices of all wave vectors, column by column.
std::vector<WaveNumbers> wave_indices(const WaveVectors &waves)
{
  std::vector<WaveNumbers> list;
  list.reserve(static_cast<std::size_t>(waves.count));
  for (const WaveColumn &column : waves.columns)
    for (int l = column.first; l <= column.last; ++l) {
      WaveNumbers wave;
      wave.index[0] = column.h;
      wave.index[1] = column.k;
      wave.index[2] = l;
      list.push_back(wave);
    }
  return list;
}

class StructureFactorLanes final : public ReciprocalSum {
 public:
  StructureFactorLanes(const c10::Device &device, const EwaldParameters &parameters,
                       double accuracy, Communicator &communicator)
      : device_(device), parameters_(parameters), accuracy_(accuracy), communicator_(communicator)
  {}

  void plan(const Lattice &lattice, const ChargeTotals &totals, double alpha) override
  {
    alpha_ = alpha;
    plan_ = plan_waves(parameters_, accuracy_, lattice, totals, alpha);
    const std::vector<WaveNumbers> waves = wave_indices(plan_.waves);
    waves_ = bytes_on(device_, waves.data(), waves.size() * sizeof(WaveNumbers));
  }

  void add(const Lattice &lattice, const ChargeTensors &atoms, double constant,
           const CoulombTensors &sums) override
  {
    const std::int64_t n_waves = plan_.waves.count;
    if (n_waves == 0) return;
    const double *fractional = atoms.fractional.const_data_ptr<double>();
    const double *charges = atoms.charges.const_data_ptr<double>();
    const at::Tensor factors = sum_over_ranks(factors_of(
        run_lanes(FactorLanes{waves(), fractional, charges, atoms.count()}, n_waves, device_)));
    weigh(lattice, constant, factors, sums);

    const at::Tensor lanes =
        run_lanes(WaveLanes{waves(), n_waves, fractional}, atoms.count(), device_);
    WaveResultItems results;
    results.lanes = lane_sums(lanes);
    results.charges = charges;
    set_reciprocal(lattice, results);
    results.potential = sums.potential.mutable_data_ptr<double>();
    results.forces = sums.forces.mutable_data_ptr<double>();
    if (sums.node_virial.defined())
      results.node_virial = sums.node_virial.mutable_data_ptr<double>();
    run_items(results, atoms.count(), device_);
  }

  double error(const Lattice &lattice, const ChargeTotals &totals) const override
  {
    return wave_vector_error(totals, lattice.volume, alpha_, plan_.k_cutoff);
  }

  Traffic traffic() const override { return traffic_; }
  std::vector<std::string> description() const override { return {describe(plan_)}; }

 private:
  WaveNumbers *waves() const { return static_cast<WaveNumbers *>(waves_.mutable_data_ptr()); }

  // [waves, 2], of this rank's atoms.
  static at::Tensor factors_of(const at::Tensor &lanes)
  {
    constexpr std::int64_t kReal = offsetof(LaneSums, energy) / sizeof(double);
    constexpr std::int64_t kImaginary = offsetof(LaneSums, extra) / sizeof(double);
    return at::stack({lanes.select(1, kReal), lanes.select(1, kImaginary)}, 1);
  }

  // Collective.
  at::Tensor sum_over_ranks(const at::Tensor &factors)
  {
    if (communicator_.size() == 1) return factors;
    const Timer timer(traffic_.seconds);
    const at::Tensor message = factors.cpu();
    const std::span values(message.mutable_data_ptr<double>(),
                           static_cast<std::size_t>(message.numel()));
    communicator_.sum(values);
    ++traffic_.messages_sent;
    traffic_.bytes_sent += static_cast<std::int64_t>(values.size_bytes());
    return message.to(device_);
  }

  void weigh(const Lattice &lattice, double constant, const at::Tensor &factors,
             const CoulombTensors &sums)
  {
    const at::Tensor virials = at::empty({plan_.waves.count, 9}, factors.options());
    WeighItems work;
    work.factors = factors.const_data_ptr<double>();
    set_reciprocal(lattice, work);
    work.volume = lattice.volume;
    work.alpha = alpha_;
    work.constant = constant;
    work.waves = waves();
    work.virials = virials.mutable_data_ptr<double>();
    run_items(work, plan_.waves.count, device_);
    // All ranks have all waves.
    if (communicator_.rank() == 0) sums.virial.add_(virials.sum(0));
  }

  c10::Device device_;
  EwaldParameters parameters_;
  double accuracy_;
  Communicator &communicator_;
  double alpha_ = 0.0;
  WavePlan plan_;
  at::Tensor waves_;    // WaveNumbers
  Traffic traffic_;
};

}    // namespace

std::unique_ptr<ReciprocalSum> make_structure_factor_lanes(const c10::Device &device,
                                                           const EwaldParameters &parameters,
                                                           double accuracy,
                                                           Communicator &communicator)
{
  return std::make_unique<StructureFactorLanes>(device, parameters, accuracy, communicator);
}

}    // namespace mlip_dd
