// If these fail, the Ewald sum or PME misses values that have been known for decades: Madelung
// constants, a charge in its neutralising background, the field between two sheets of charge.
#include "base/constants.h"
#include "catch.h"
#include "ewald/charged_system.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kCutoff = 9.0;
// Digits of the published constants, and of sums at this accuracy.
constexpr double kAccuracy = 1e-12;
constexpr double kDigits = 1e-10;

ModelSpec exact_model(const std::string &method, double constant = 1.0)
{
  ModelSpec model =
      charged_model(method, kCutoff, {{"accuracy", kAccuracy}, {"coulomb_constant", constant}});
  if (method == "pme") model.parameters["order"] = 8;
  return model;
}

}    // namespace

TEST_CASE("Madelung constants")
{
  const std::string method = GENERATE("ewald", "pme");
  const Way way = GENERATE(Way{}, Way{true, true});
  CAPTURE(method, way.lanes);
  // Energy per ion pair times the nearest distance, in units of the Coulomb constant.
  constexpr double kLattice = 5.0;
  const Cell cell = orthogonal_cell(kLattice, kLattice, kLattice);
  SECTION("NaCl")
  {
    const PeriodicSystem system = crystal(cell,
                                          {{0, 0, 0},
                                           {0, .5, .5},
                                           {.5, 0, .5},
                                           {.5, .5, 0},
                                           {.5, 0, 0},
                                           {0, .5, 0},
                                           {0, 0, .5},
                                           {.5, .5, .5}},
                                          {1, 1, 1, 1, -1, -1, -1, -1});
    const double madelung =
        -evaluate_one(exact_model(method), system, way).energy / 4.0 * kLattice / 2.0;
    CHECK(madelung == Approx(1.747564594633182).epsilon(kDigits));
  }
  SECTION("CsCl")
  {
    const PeriodicSystem system = crystal(cell, {{0, 0, 0}, {.5, .5, .5}}, {1, -1});
    const double nearest = std::sqrt(3.0) / 2.0 * kLattice;
    const double madelung = -evaluate_one(exact_model(method), system, way).energy * nearest;
    CHECK(madelung == Approx(1.762674773070988).epsilon(kDigits));
  }
  SECTION("ZnS")
  {
    const PeriodicSystem system = crystal(cell,
                                          {{0, 0, 0},
                                           {0, .5, .5},
                                           {.5, 0, .5},
                                           {.5, .5, 0},
                                           {.25, .25, .25},
                                           {.25, .75, .75},
                                           {.75, .25, .75},
                                           {.75, .75, .25}},
                                          {1, 1, 1, 1, -1, -1, -1, -1});
    const double nearest = std::sqrt(3.0) / 4.0 * kLattice;
    const double madelung = -evaluate_one(exact_model(method), system, way).energy / 4.0 * nearest;
    CHECK(madelung == Approx(1.638055053388789).epsilon(kDigits));
  }
}

TEST_CASE("one charge in a cubic box with its background")
{
  const std::string method = GENERATE("ewald", "pme");
  const Way way = GENERATE(Way{}, Way{true, true});
  CAPTURE(method, way.lanes);
  constexpr double kLength = 7.0, kCharge = 1.3;
  const PeriodicSystem system =
      crystal(orthogonal_cell(kLength, kLength, kLength), {{.1, .2, .3}}, {kCharge});
  const ChargedResult result = evaluate_one(exact_model(method), system, way);
  CHECK(2.0 * kLength * result.energy / (kCharge * kCharge) ==
        Approx(-2.837297479480619).epsilon(kDigits));
  // E goes as 1 / L: the trace of the virial is the energy.
  CHECK(result.virial[0] + result.virial[4] + result.virial[8] ==
        Approx(result.energy).epsilon(kDigits));
  CHECK(result.charge_gradient[0] == Approx(2.0 * result.energy / kCharge).epsilon(kDigits));
}

TEST_CASE("a dipole layer under the slab correction has no field outside")
{
  const std::string method = GENERATE("ewald", "pme");
  const Way way = GENERATE(Way{}, Way{true, true});
  CAPTURE(method, way.lanes);
  // Two square lattices of opposite charges at z = 2 and z = 4, spaced closely. Far above, the
  // potential is the constant of a capacitor, half of its jump, below it minus that: the energy of
  // a test charge in the gap falls by 4 pi sigma per length; outside no force acts on it.
  constexpr double kSide = 2.0, kGap = 2.0, kHeight = 20.0, kTest = 1e-3;
  Cell cell = orthogonal_cell(2 * kSide, 2 * kSide, kHeight);
  cell.periodic[2] = false;
  std::vector<std::array<double, 3>> sites;
  std::vector<double> charges;
  for (const double z : {2.0, 2.0 + kGap})
    for (const double x : {0.0, 0.5})
      for (const double y : {0.0, 0.5}) {
        sites.push_back({x, y, z / kHeight});
        charges.push_back(z == 2.0 ? 1.0 : -1.0);
      }
  // Two test charges of opposite sign, so that there is no net charge.
  sites.push_back({0.25, 0.25, 15.0 / kHeight});
  charges.push_back(kTest);
  sites.push_back({0.25, 0.25, 3.0 / kHeight});
  charges.push_back(-kTest);
  ModelSpec model = exact_model(method);
  model.parameters["slab"] = 3.0;
  const ChargedResult result = evaluate_one(model, crystal(cell, sites, charges), way);
  // The lattices' structure decays as exp(-2 pi z / side): 1e-15 at the outer test charge. The test
  // charges act on each other with kTest^2.
  CHECK(std::abs(result.forces[3 * 8 + 2]) < 20.0 * kTest * kTest);
  // In the middle of the gap the structure of both layers is there, equal and opposite in z: the
  // field is not that of smooth sheets, but the potential difference between the outer sides is.
  const double sigma = 1.0 / (kSide * kSide);
  std::vector<PeriodicSystem> sides;
  for (const double z : {13.0, -7.0}) {
    auto moved = sites;
    moved[8][2] = z / kHeight;
    sides.push_back(crystal(cell, moved, charges));
  }
  const std::vector<int> owners(sites.size(), 0);
  const auto at = evaluate_steps(model, sides[0], sides, 1, owners, 1, way);
  const double jump = at[1].charge_gradient[8] - at[0].charge_gradient[8];
  // Between the sides the other test charge acts with kTest.
  CHECK(jump == Approx(4.0 * kPi * sigma * kGap).margin(20.0 * kTest));
}

TEST_CASE("the slab correction does not depend on the height of the box")
{
  const std::string method = GENERATE("ewald", "pme");
  const Way way = GENERATE(Way{}, Way{true, true});
  CAPTURE(method, way.lanes);
  Cell low = orthogonal_cell(9.0, 8.0, 11.0), high = orthogonal_cell(9.0, 8.0, 23.0);
  low.periodic[2] = high.periodic[2] = false;
  const double net = GENERATE(0.0, 0.05);
  CAPTURE(net);
  PeriodicSystem system = random_charges(5, 20, low, net);
  ModelSpec model = exact_model(method, kCoulombMetal);
  model.parameters["slab"] = 4.0;
  const ChargedResult in_low = evaluate_one(model, system, way);
  system.cell = high;
  const ChargedResult in_high = evaluate_one(model, system, way);
  // Copies at a distance d along z are felt as exp(-2 pi d / 9 A): 1e-10 at 33 A.
  constexpr double kCopies = 1e-7;
  CHECK(largest_difference(in_low.forces, in_high.forces) < kCopies);
  CHECK(std::abs(in_low.energy - in_high.energy) < kCopies);
}
