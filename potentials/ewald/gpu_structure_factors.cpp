#include "potentials/ewald/gpu_structure_factors.h"

#include "base/timer.h"
#include "potentials/ewald/wave_results.h"
#include "potentials/pair/gpu_array.h"

namespace mlip_dd {

namespace {

class GpuStructureFactors final : public ReciprocalSum {
 public:
  GpuStructureFactors(int gpu, const EwaldParameters &parameters, double accuracy,
                      Communicator &communicator)
      : parameters_(parameters),
        accuracy_(accuracy),
        communicator_(communicator),
        device_waves_(gpu),
        fractional_(gpu),
        charges_(gpu),
        sums_(gpu)
  {}

  void plan(const Lattice &lattice, const ChargeTotals &totals, double alpha) override
  {
    alpha_ = alpha;
    plan_ = plan_waves(parameters_, accuracy_, lattice, totals, alpha);
    waves_ = wave_indices(plan_.waves);
  }

  void add(const Lattice &lattice, const OwnedCharges &atoms, double constant,
           const CoulombSums &sums) override
  {
    if (waves_.empty()) return;
    const std::int64_t n_waves = plan_.waves.count;
    device_waves_.upload(waves_);
    fractional_.upload(atoms.fractional);
    charges_.upload(atoms.charges);
    const FactorLanes of_waves{device_waves_.as<WaveNumbers>(), fractional_.as<double>(),
                               charges_.as<double>(), atoms.count()};
    factors_.clear();
    for (const LaneSums &wave :
         sums_.sum(n_waves, [&](LaneSums *to) { launch_waves(of_waves, n_waves, to); })) {
      factors_.push_back(wave.energy);
      factors_.push_back(wave.extra);
    }
    sum_factors();
    weigh_waves(waves_, lattice, alpha_, constant, factors_,
                communicator_.rank() == 0 ? sums.virial : nullptr);
    device_waves_.upload(waves_);
    const WaveLanes of_atoms{device_waves_.as<WaveNumbers>(), n_waves, fractional_.as<double>()};
    add_wave_sums(
        sums_.sum(atoms.count(), [&](LaneSums *to) { launch_waves(of_atoms, atoms.count(), to); }),
        lattice, atoms, sums);
  }

  double error(const Lattice &lattice, const ChargeTotals &totals) const override
  {
    return wave_vector_error(totals, lattice.volume, alpha_, plan_.k_cutoff);
  }

  Traffic traffic() const override { return traffic_; }
  std::vector<std::string> description() const override { return {describe(plan_)}; }

 private:
  // Collective.
  void sum_factors()
  {
    if (communicator_.size() == 1) return;
    const Timer timer(traffic_.seconds);
    communicator_.sum(factors_);
    ++traffic_.messages_sent;
    traffic_.bytes_sent += static_cast<std::int64_t>(factors_.size() * sizeof(double));
  }

  EwaldParameters parameters_;
  double accuracy_;
  Communicator &communicator_;
  double alpha_ = 0.0;
  WavePlan plan_;
  std::vector<WaveNumbers> waves_;
  GpuArray device_waves_, fractional_, charges_;
  GpuSums sums_;
  std::vector<double> factors_;    // [waves, 2]
  Traffic traffic_;
};

}    // namespace

std::unique_ptr<ReciprocalSum> make_gpu_structure_factors(int gpu,
                                                          const EwaldParameters &parameters,
                                                          double accuracy,
                                                          Communicator &communicator)
{
  return std::make_unique<GpuStructureFactors>(gpu, parameters, accuracy, communicator);
}

}    // namespace mlip_dd
