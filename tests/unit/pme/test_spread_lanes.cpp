// If these fail, charges are on another mesh on a GPU than on the CPU, or get other potentials back
// from it: this is the work of its threads, done without one.
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "catch.h"
#include "ewald/charged_system.h"
#include "ewald/kept_sums.h"
#include "potentials/pme/mesh_items.h"
#include "potentials/pme/spread.h"

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

std::vector<std::uint8_t> marks_of(const MeshSize &mesh, const std::vector<double> &fractional)
{
  std::vector<std::uint8_t> marks(static_cast<std::size_t>(mesh[0] + mesh[1] + mesh[2]));
  const MarkItems work{{mesh[0], mesh[1], mesh[2]}, fractional.data(), marks.data()};
  for (std::size_t i = 0; i < fractional.size() / 3; ++i) work(static_cast<std::int64_t>(i));
  return marks;
}

struct OnMesh {
  at::Tensor patch, values, gradients;
};

OnMesh spread_and_interpolate(SplineCharges &splines, const MeshSize &mesh, int order,
                              const MeshPatch &patch, const std::vector<double> &fractional,
                              const std::vector<double> &charges, const std::vector<double> &field)
{
  const auto n = static_cast<std::int64_t>(charges.size());
  const OnMesh found{at::empty({patch.box().points()}, at::kDouble), at::empty({n}, at::kDouble),
                     at::empty({n, 3}, at::kDouble)};
  splines.place(mesh, order, patch, tensor_over(fractional, 3));
  splines.spread(tensor_over(charges), found.patch);
  splines.interpolate(tensor_over(field), found.values, found.gradients);
  return found;
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
  patch.fit(mesh, order, /*margin=*/1, marks_of(mesh, fractional));
  CHECK(patch.holds(mesh, order, marks_of(mesh, fractional)));
  const auto points = static_cast<std::size_t>(patch.box().points());
  const std::vector<double> field = random_numbers(random, points, -1.0, 1.0);

  const auto run = [&](SplineCharges &splines) {
    return spread_and_interpolate(splines, mesh, order, patch, fractional, charges, field);
  };
  const OnMesh expected = run(*make_spline_charges()), found = run(*make_spline_lanes(at::kCPU));
  const auto largest = [](const at::Tensor &tensor) {
    return largest_difference(values_of(tensor),
                              std::vector<double>(static_cast<std::size_t>(tensor.numel())));
  };
  CHECK(largest(expected.patch) > 0.01);
  CHECK(largest(found.patch.sub(expected.patch)) < kRoundOff);
  CHECK(largest(expected.values) > 0.1);
  CHECK(largest(found.values.sub(expected.values)) < kRoundOff);
  CHECK(largest(found.gradients.sub(expected.gradients)) < 10.0 * kRoundOff);
}

TEST_CASE("a position that is not a number has a place, so that the run ends by its result")
{
  const bool lanes = GENERATE(false, true);
  CAPTURE(lanes);
  constexpr MeshSize kMesh{8, 9, 8};
  std::vector<double> fractional(15, 0.4);
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  fractional[0] = no_number, fractional[4] = no_number, fractional[6] = -no_number;
  fractional[9] = std::numeric_limits<double>::infinity(), fractional[10] = -1e300;
  MeshPatch patch;
  patch.cover(kMesh);
  const std::vector<double> charges(5, 1.0),
      field(static_cast<std::size_t>(patch.box().points()), 1.0);
  const auto splines = lanes ? make_spline_lanes(at::kCPU) : make_spline_charges();
  const OnMesh found =
      spread_and_interpolate(*splines, kMesh, 4, patch, fractional, charges, field);
  const std::vector<double> values = values_of(found.values);
  for (const std::size_t i : {0, 1, 2}) CHECK(std::isnan(values[i]));
  CHECK(values[4] == Approx(1.0));    // the weights of one charge
}
