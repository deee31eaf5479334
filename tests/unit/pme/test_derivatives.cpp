// If these fail, forces, virial or electrostatic potential of PME are not the derivatives of its
// energy: simulations would not conserve energy, relax to the wrong cell, or feed wrong charges.
#include "catch.h"
#include "ewald/charged_system.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

// Fourth-order central differences: rounding of 1e-13 eV over steps of 2e-3, and pairs that cross
// the cutoff inside a step, whose energy at this alpha is below 1e-11 eV. The mesh is coarse, so
// that only exact derivatives of the mesh energy itself pass.
constexpr double kDifference = 1e-7;

void check(const nlohmann::json &parameters, const PeriodicSystem &system)
{
  const Way way = GENERATE(Way{}, Way{true, true});
  CAPTURE(way.lanes);
  const Deviations found = finite_differences(charged_model("pme", 8.0, parameters), system, way);
  CHECK(found.forces < kDifference);
  CHECK(found.virial < kDifference);
  CHECK(found.charge_gradient < kDifference);
}

}    // namespace

TEST_CASE("PME in an orthogonal cell, every order")
{
  const int order = GENERATE(4, 5, 6, 7, 8);
  CAPTURE(order);
  // Splines of order 4 have jumps in their third derivative, which a fourth-order formula sees when
  // a step crosses a mesh point.
  if (order == 4) {
    const Deviations found = finite_differences(
        charged_model("pme", 8.0, {{"alpha", 0.62}, {"order", 4}, {"mesh", {16, 16, 16}}}),
        random_charges(1, 8, orthogonal_cell(6.0, 7.0, 6.5)), GENERATE(Way{}, Way{true, true}));
    CHECK(found.forces < 1e-5);
    CHECK(found.virial < 1e-5);
    CHECK(found.charge_gradient < kDifference);
    return;
  }
  check({{"alpha", 0.62}, {"order", order}, {"mesh", {16, 15, 18}}},
        random_charges(1, 8, orthogonal_cell(6.0, 7.0, 6.5)));
}

TEST_CASE("PME of a net charge in a triclinic cell")
{
  // Even sizes, so that waves on the border of the mesh's zone take part.
  check({{"alpha", 0.62}, {"order", 7}, {"mesh", {14, 16, 18}}},
        random_charges(2, 8, tilted_cell(6.0, 7.0, 6.5, 0.3), 0.1));
}

TEST_CASE("PME of a slab with a net charge")
{
  Cell cell = orthogonal_cell(6.0, 7.0, 8.0);
  cell.periodic[0] = false;
  check({{"alpha", 0.62}, {"order", 7}, {"slab", 3.0}, {"mesh", {40, 16, 18}}},
        random_charges(3, 8, cell, 0.1));
}
