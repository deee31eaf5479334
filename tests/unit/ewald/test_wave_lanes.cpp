// If these fail, Ewald's reciprocal sum on a GPU is another than on the CPU: these are the sums of
// its lanes, run without one.
#include <cmath>

#include "catch.h"
#include "comm/communicator.h"
#include "ewald/charged_system.h"
#include "ewald/kept_sums.h"
#include "potentials/ewald/structure_factors.h"
#include "potentials/ewald/wave_results.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kRoundOff = 1e-11;    // float64 sums of some thousand terms, phases up to 2 pi 20
constexpr double kAlpha = 0.4, kConstant = 14.4;

double largest_of(const std::vector<double> &values)
{
  return largest_difference(values, std::vector<double>(values.size()));
}

}    // namespace

TEST_CASE("lanes give the reciprocal sums of the CPU")
{
  const PeriodicSystem system = random_charges(run_seed(), 40, tilted_cell(9, 8, 11, 0.2), 0.1);
  const auto n = static_cast<std::size_t>(system.size());
  const Lattice lattice = make_lattice(system.cell);
  std::vector<double> fractional;
  for (std::size_t i = 0; i < n; ++i)
    for (const double f : lattice.fractional(&system.positions[3 * i])) fractional.push_back(f);
  const OwnedCharges atoms{fractional, system.charges};
  ChargeTotals totals{0.0, 0.0, static_cast<double>(n)};
  for (const double charge : system.charges) {
    totals.charge += charge;
    totals.charge_squared += charge * charge;
  }

  KeptSums expected(n, true), found(n, true);
  const auto communicator = make_self_communicator();
  const auto on_cpu = make_structure_factors({}, 1e-6, *communicator);
  on_cpu->plan(lattice, totals, kAlpha);
  on_cpu->add(lattice, atoms, kConstant, expected.sums);

  const WavePlan plan = plan_waves({}, 1e-6, lattice, totals, kAlpha);
  REQUIRE(plan.waves.count > 100);
  std::vector<WaveNumbers> waves = wave_indices(plan.waves);
  std::vector<LaneSums> of_waves(waves.size()), of_atoms(n);
  run_lanes_on_host(
      FactorLanes{waves.data(), fractional.data(), system.charges.data(), atoms.count()},
      plan.waves.count, of_waves.data());
  std::vector<double> factors;
  for (const LaneSums &wave : of_waves) {
    factors.push_back(wave.energy);
    factors.push_back(wave.extra);
  }
  weigh_waves(waves, lattice, kAlpha, kConstant, factors, &found.virial);
  run_lanes_on_host(WaveLanes{waves.data(), plan.waves.count, fractional.data()}, atoms.count(),
                    of_atoms.data());
  add_wave_sums(of_atoms, lattice, atoms, found.sums);

  for (const auto &values : {&KeptSums::potential, &KeptSums::forces, &KeptSums::node_virial}) {
    REQUIRE(largest_of(expected.*values) > 0.1);
    CHECK(largest_difference(found.*values, expected.*values) <
          kRoundOff * largest_of(expected.*values));
  }
  for (std::size_t k = 0; k < 9; ++k)
    CHECK(std::abs(found.virial[k] - expected.virial[k]) <
          kRoundOff * std::abs(expected.virial[0]));
  CHECK(std::abs(expected.virial[0]) > 0.1);
}
