// If these fail, a mistake in a spec's parameters or a box that the sum cannot treat passes unseen,
// or its message does not say what to do.
#include <iterator>

#include "catch.h"
#include "ewald/charged_system.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

PeriodicSystem two_charges()
{
  return crystal(orthogonal_cell(6.0, 6.0, 6.0), {{0, 0, 0}, {.5, .4, .5}}, {1, -1});
}

void refuses(const nlohmann::json &parameters, const std::string &part)
{
  CAPTURE(parameters.dump());
  CHECK_THROWS_WITH(evaluate_one(charged_model("ewald", 5.0, parameters), two_charges()),
                    contains(part));
}

}    // namespace

TEST_CASE("wrong parameters are refused")
{
  refuses({{"acuracy", 1e-5}}, "Did you mean \"accuracy\"");
  refuses({{"accuracy", 0}}, "/model/parameters/accuracy");
  refuses({{"accuracy", 1e-20}}, "between");
  refuses({{"accuracy", "high"}}, "number");
  refuses({{"alpha", -1}}, "above zero");
  refuses({{"alpha", 6}}, "too large");
  refuses({{"charges", {1}}}, "one charge for each");
  refuses({{"charges", 1}}, "charges");
  refuses({{"slab", 0.5}}, "at least 1");
  refuses({{"k_cutoff", 0}}, "above zero");
  refuses({{"k_largest", {3, 3}}}, "three entries");
  refuses({{"k_largest", {3, 3, -1}}}, "k_largest");
  refuses({{"k_largest", {3, 3, 3}}, {"k_cutoff", 2.0}}, "Remove one");
  refuses({{"order", 6}}, "order");
}

TEST_CASE("models that say what the potential cannot honour are refused")
{
  ModelSpec model = charged_model("ewald", 5.0, nlohmann::json::object());
  model.units = "real";
  CHECK_THROWS_WITH(evaluate_one(model, two_charges()), contains("/model/units"));
  model.units = "metal";
  model.dtype = "float32";
  CHECK_THROWS_WITH(evaluate_one(model, two_charges()), contains("/model/dtype"));
  model.dtype = "";
  model.cutoff.reset();
  model.parameters = {{"alpha", 0.4}};
  CHECK_THROWS_WITH(evaluate_one(model, two_charges()), contains("cutoff"));
}

TEST_CASE("boxes and atoms without what the sum needs are refused")
{
  const ModelSpec model = charged_model("ewald", 5.0, nlohmann::json::object());
  PeriodicSystem system = two_charges();
  system.cell.periodic[2] = false;
  CHECK_THROWS_WITH(evaluate_one(model, system), contains("slab"));
  const ModelSpec slab = charged_model("ewald", 5.0, {{"slab", 3.0}});
  CHECK_THROWS_WITH(evaluate_one(slab, two_charges()), contains("exactly one"));
  system.cell.periodic[1] = false;
  CHECK_THROWS_WITH(evaluate_one(slab, system), contains("2 non-periodic"));
  system = two_charges();
  system.charges.clear();
  CHECK_THROWS_WITH(evaluate_one(model, system), contains("atom_style charge"));
}

TEST_CASE("charges of the elements replace the atoms' own")
{
  const Way way = GENERATE(from_range(std::begin(kWays), std::end(kWays)));
  CAPTURE(way.lanes, way.device_graph);
  PeriodicSystem system = two_charges();
  const ModelSpec own = charged_model("ewald", 5.0, nlohmann::json::object());
  const ModelSpec given = charged_model("ewald", 5.0, {{"charges", {1.0, -1.0}}});
  const double expected = evaluate_one(own, system).energy;
  REQUIRE(std::abs(expected) > 1.0);
  system.charges = {0.3, 0.3};
  CHECK(evaluate_one(given, system, way).energy == Approx(expected));
  system.charges.clear();
  CHECK(evaluate_one(given, system, way).energy == Approx(expected));
  CHECK(evaluate_on(2, given, system, way).energy == Approx(expected));
}

TEST_CASE("charges that are all zero give nothing")
{
  PeriodicSystem system = two_charges();
  system.charges = {0.0, 0.0};
  const ChargedResult result =
      evaluate_one(charged_model("ewald", 5.0, nlohmann::json::object()), system);
  CHECK(result.energy == 0.0);
  CHECK(root_mean_square(result.forces) == 0.0);
}
