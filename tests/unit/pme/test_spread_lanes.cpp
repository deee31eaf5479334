// If these fail, charges are on another mesh on a GPU than on the CPU, or get other potentials back
// from it: this is the work of its threads, done without one.
#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "catch.h"
#include "ewald/charged_system.h"
#include "potentials/pme/charge_columns.h"
#include "potentials/pme/spread.h"
#include "potentials/pme/spread_lanes.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kRoundOff = 1e-12;    // sums of a few hundred terms of order one

std::vector<double> random_numbers(std::mt19937_64 &random, std::size_t n, double from, double to)
{
  std::uniform_real_distribution<double> distribution(from, to);
  std::vector<double> numbers(n);
  for (double &number : numbers) number = distribution(random);
  return numbers;
}

}    // namespace

TEST_CASE("threads spread and interpolate as the CPU does")
{
  const int order = GENERATE(4, 5, 6, 7, 8);
  const MeshSize mesh = GENERATE(MeshSize{12, 15, 10}, MeshSize{8, 9, 8});
  // In a corner, so that the patch runs over the end of the mesh; or everywhere and beyond.
  const bool corner = GENERATE(true, false);
  CAPTURE(order, mesh, corner, run_seed());
  std::mt19937_64 random(run_seed());
  constexpr std::size_t kCharges = 50;
  const std::vector<double> fractional =
      random_numbers(random, 3 * kCharges, corner ? -0.1 : -2.0, corner ? 0.15 : 2.0);
  const std::vector<double> charges = random_numbers(random, kCharges, -1.0, 1.0);
  MeshPatch patch;
  patch.fit(mesh, order, /*margin=*/1, fractional);
  const auto points = static_cast<std::size_t>(patch.box().points());

  const auto on_cpu = make_spline_charges();
  std::vector<double> spread(points), values(kCharges), gradients(3 * kCharges);
  on_cpu->place(mesh, order, patch, fractional);
  on_cpu->spread(charges, spread);
  const std::vector<double> field = random_numbers(random, points, -1.0, 1.0);
  on_cpu->interpolate(field, values, gradients);

  const ChargeColumns columns = sort_into_columns(mesh, fractional);
  std::vector<std::int32_t> first_points(3 * kCharges);
  std::vector<double> weights(3 * kCharges * static_cast<std::size_t>(order));
  std::vector<double> derivatives(weights.size()), found(points);
  SplineView view;
  view.order = order;
  for (std::size_t a = 0; a < 3; ++a) {
    view.mesh[a] = mesh[a];
    view.start[a] = patch.box().start[a];
    view.count[a] = patch.box().count[a];
  }
  view.n = kCharges;
  view.fractional = fractional.data();
  view.points = first_points.data();
  view.weights = weights.data();
  view.derivatives = derivatives.data();
  view.starts = columns.starts.data();
  view.charges = columns.charges.data();
  run_items_on_host(PlaceItems{view}, view.n);
  run_items_on_host(SpreadItems{view, charges.data(), found.data()}, view.patch_points());
  std::vector<LaneSums> sums(kCharges);
  run_lanes_on_host(InterpolateLanes{view, field.data()}, view.n, sums.data());
  std::vector<double> found_values, found_gradients;
  for (const LaneSums &of_charge : sums) {
    found_values.push_back(of_charge.extra);
    found_gradients.insert(found_gradients.end(), of_charge.force, of_charge.force + 3);
  }

  CHECK(largest_difference(spread, std::vector<double>(points)) > 0.01);
  CHECK(largest_difference(found, spread) < kRoundOff);
  CHECK(largest_difference(values, std::vector<double>(kCharges)) > 0.1);
  CHECK(largest_difference(found_values, values) < kRoundOff);
  CHECK(largest_difference(found_gradients, gradients) < 10.0 * kRoundOff);
}

TEST_CASE("a position that is not a number has a column, so that the run ends by its result")
{
  std::vector<double> fractional(12, 0.4);
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  fractional[0] = no_number, fractional[4] = no_number, fractional[6] = -no_number;
  fractional[9] = std::numeric_limits<double>::infinity(), fractional[10] = -1e300;
  const ChargeColumns columns = sort_into_columns({8, 9, 8}, fractional);
  CHECK(columns.starts.front() == 0);
  CHECK(columns.starts.back() == 4);
  CHECK(std::is_sorted(columns.starts.begin(), columns.starts.end()));
  std::vector<std::int32_t> charges = columns.charges;
  std::sort(charges.begin(), charges.end());
  CHECK(charges == std::vector<std::int32_t>{0, 1, 2, 3});
}
