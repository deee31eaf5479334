// If these fail, the real-space part of lattice sums on a GPU is another than on the CPU: these are
// the sums of its lanes, run without one.
#include <limits>
#include <random>

#include "catch.h"
#include "ewald/kept_sums.h"
#include "pair/lane_run.h"
#include "potentials/coulomb/real_space.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

// float64 sums of some thousand terms, relative to the largest atom's.
constexpr double kRoundOff = 1e-12;
constexpr double kCutoff = 5.0, kAlpha = 0.45, kConstant = 14.4;

}    // namespace

TEST_CASE("lanes give the real-space sums of the CPU")
{
  std::mt19937_64 random(run_seed());
  const PeriodicSystem system = random_system(random, 25, tilted_cell(8, 7, 9, 0.2), 2, 1.9);
  std::vector<double> charges(static_cast<std::size_t>(system.size()));
  for (double &charge : charges) charge = std::uniform_real_distribution<double>(-1, 1)(random);
  PairRows rows;
  set_rows(rows, graph_of(system, kCutoff), /*n_types=*/1);
  set_positions(rows, host_positions(system, kCutoff));

  const CoulombTensors expected = kept_sums(system.size()), found = kept_sums(system.size());
  const auto add = [&](RealSpaceSum &sum, const CoulombTensors &to) {
    sum.set_parameters(kAlpha, kCutoff);
    sum.set_pairs(rows.view());
    sum.add(rows.view(), tensor_over(charges), kConstant, to);
  };
  add(*make_real_space_sum(), expected);
  add(*make_real_space_lanes(at::kCPU), found);
  check_same(found, expected, kRoundOff);
}

TEST_CASE("lanes leave out pairs at no distance, as the CPU does")
{
  std::mt19937_64 random(run_seed());
  const PeriodicSystem system = random_system(random, 25, tilted_cell(8, 7, 9, 0.2), 2, 1.9);
  const std::vector<double> charges(static_cast<std::size_t>(system.size()), 1.0);
  PairRows rows;
  set_rows(rows, graph_of(system, kCutoff), /*n_types=*/1);
  set_positions(rows, host_positions(system, kCutoff));
  rows.atoms[0].values[1] = std::numeric_limits<double>::quiet_NaN();
  const CoulombTensors found = kept_sums(system.size());
  const auto lanes = make_real_space_lanes(at::kCPU);
  lanes->set_parameters(kAlpha, kCutoff);
  lanes->set_pairs(rows.view());
  lanes->add(rows.view(), tensor_over(charges), kConstant, found);
  CHECK(found.potential.isfinite().all().item<bool>());
  CHECK(found.potential.abs().max().item<double>() > 0.0);
}
