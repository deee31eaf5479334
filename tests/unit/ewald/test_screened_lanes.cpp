// If these fail, the real-space part of lattice sums on a GPU is another than on the CPU: these are
// the sums of its lanes, run without one.
#include <cmath>
#include <random>

#include "catch.h"
#include "ewald/kept_sums.h"
#include "pair/lane_run.h"
#include "potentials/coulomb/real_space.h"
#include "potentials/coulomb/screened_lanes.h"
#include "potentials/coulomb/screened_results.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kRoundOff = 1e-12;    // float64 sums of some thousand terms, relative
constexpr double kCutoff = 5.0, kAlpha = 0.45, kConstant = 14.4;

double largest_of(const std::vector<double> &values)
{
  return largest_difference(values, std::vector<double>(values.size()));
}

}    // namespace

TEST_CASE("lanes give the real-space sums of the CPU")
{
  std::mt19937_64 random(run_seed());
  const PeriodicSystem system = random_system(random, 25, tilted_cell(8, 7, 9, 0.2), 2, 1.9);
  const auto n = static_cast<std::size_t>(system.size());
  std::vector<double> charges(n);
  for (double &charge : charges) charge = std::uniform_real_distribution<double>(-1, 1)(random);

  const AtomGraph graph = graph_of(system, kCutoff);
  KeptSums expected(n), found(n);
  RealSpaceSum on_cpu;
  on_cpu.set_parameters(kAlpha, kCutoff);
  on_cpu.set_candidates(graph);
  const std::vector<double> positions = host_positions(system, kCutoff);
  on_cpu.add(positions, charges, kConstant, expected.sums);

  PairRows rows;
  set_rows(rows, graph, 1);
  set_positions(rows, positions);
  const ScreenedTable table(kAlpha, kCutoff);
  std::vector<LaneSums> lanes(n);
  run_lanes_on_host(ScreenedLanes{rows.view(), table.coefficients().data(), table.alpha_squared(),
                                  kCutoff * kCutoff, charges.data()},
                    rows.n_owned, lanes.data());
  add_screened_sums(lanes, charges, kConstant, found.sums);

  for (const auto &values : {&KeptSums::potential, &KeptSums::forces, &KeptSums::node_virial}) {
    REQUIRE(largest_of(expected.*values) > 0.1);
    CHECK(largest_difference(found.*values, expected.*values) <
          kRoundOff * largest_of(expected.*values));
  }
  double total = 0.0;
  for (std::size_t k = 0; k < 9; ++k) {
    CHECK(std::abs(found.virial[k] - expected.virial[k]) <
          kRoundOff * static_cast<double>(n) * largest_of(expected.node_virial));
    total += std::abs(expected.virial[k]);
  }
  CHECK(total > 0.1);
}
