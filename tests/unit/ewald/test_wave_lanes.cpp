// If these fail, Ewald's reciprocal sum on a GPU is another than on the CPU: these are the sums of
// its lanes, run without one.
#include "catch.h"
#include "comm/communicator.h"
#include "ewald/charged_system.h"
#include "ewald/kept_sums.h"
#include "potentials/ewald/structure_factor_lanes.h"
#include "potentials/ewald/structure_factors.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kRoundOff = 1e-11;    // float64 sums of some thousand terms, phases up to 2 pi 20
constexpr double kAlpha = 0.4, kConstant = 14.4, kAccuracy = 1e-6;

}    // namespace

TEST_CASE("lanes give the reciprocal sums of the CPU")
{
  std::mt19937_64 random(run_seed());
  std::uniform_real_distribution<double> anywhere(-2.0, 2.0);
  constexpr std::int64_t kCount = 40;
  std::vector<double> fractional, charges;
  ChargeTotals totals{0.0, 0.0, kCount};
  for (std::int64_t i = 0; i < kCount; ++i) {
    for (int a = 0; a < 3; ++a) fractional.push_back(anywhere(random));
    charges.push_back((i % 2 == 0 ? 1.0 : -1.0) + 0.1);
    totals.charge += charges.back();
    totals.charge_squared += charges.back() * charges.back();
  }
  const Lattice lattice = make_lattice(tilted_cell(9, 8, 11, 0.2));
  const ChargeTensors atoms{tensor_over(fractional, 3), tensor_over(charges)};
  REQUIRE(plan_waves({}, kAccuracy, lattice, totals, kAlpha).waves.count > 100);

  const auto communicator = make_self_communicator();
  const CoulombTensors expected = kept_sums(kCount), found = kept_sums(kCount);
  const auto add = [&](ReciprocalSum &sum, const CoulombTensors &to) {
    sum.plan(lattice, totals, kAlpha);
    sum.add(lattice, atoms, kConstant, to);
  };
  add(*make_structure_factors({}, kAccuracy, *communicator), expected);
  add(*make_structure_factor_lanes(at::kCPU, {}, kAccuracy, *communicator), found);
  check_same(found, expected, kRoundOff);
}
