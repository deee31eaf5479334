// If these fail, forces, virial or electrostatic potential are not the derivatives of the energy:
// simulations would not conserve energy, relax to the wrong cell, or feed wrong charges.
#include "catch.h"
#include "ewald/charged_system.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

// Fourth-order central differences: rounding of 1e-13 eV over steps of 2e-3, and pairs that cross
// the cutoff inside a step, whose energy at this accuracy is below 1e-9 eV.
constexpr double kDifference = 1e-7;

void check(const ModelSpec &model, const PeriodicSystem &system)
{
  const Way way = GENERATE(Way{}, Way{true, true});
  CAPTURE(way.lanes);
  const Deviations found = finite_differences(model, system, way);
  CHECK(found.forces < kDifference);
  CHECK(found.virial < kDifference);
  CHECK(found.charge_gradient < kDifference);
}

}    // namespace

TEST_CASE("Ewald sum in an orthogonal cell")
{
  check(charged_model("ewald", 7.0, {{"accuracy", 1e-12}}),
        random_charges(1, 10, orthogonal_cell(6.0, 7.0, 6.5)));
}

TEST_CASE("Ewald sum of a net charge in a triclinic cell")
{
  check(charged_model("ewald", 7.0, {{"accuracy", 1e-12}}),
        random_charges(2, 10, tilted_cell(6.0, 7.0, 6.5, 0.3), 0.1));
}

TEST_CASE("Ewald sum of a slab with a net charge")
{
  Cell cell = tilted_cell(6.0, 7.0, 8.0, 0.0);
  cell.vectors[3] = 1.2;    // tilted within the plane
  cell.periodic[2] = false;
  check(charged_model("ewald", 7.0, {{"accuracy", 1e-12}, {"slab", 3.0}}),
        random_charges(3, 10, cell, 0.1));
}
