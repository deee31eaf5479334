// If these fail, the Ewald sum has other energies, forces, virials or atomic energies than two
// programs written independently of it: the reference implementation and a brute-force sum.
#include "catch.h"
#include "ewald/charged_system.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

// Same real-space cutoff, same wave vectors, float64 in both: rounding of some thousand terms of up
// to 30 eV.
constexpr double kSameSum = 1e-10;
// The brute-force sums are converged to 1e-13 of a unit charge's force; what is left is that the
// data stop at 15.5 Angstrom and 6 wave vectors per axis (accuracy 1e-10 in the source's measure).
constexpr double kConverged = 3e-9;
// A virial weighs the pairs left out by their distance; the source's own is 3.5e-8 eV off.
constexpr double kConvergedVirial = 5e-8;

std::vector<double> array_of(const std::array<double, 9> &values)
{
  return {values.begin(), values.end()};
}

void compare(const ChargedResult &found, const nlohmann::json &expected, double tolerance,
             double virial_tolerance)
{
  CHECK(std::abs(found.energy - expected.at("energy").get<double>()) < tolerance);
  CHECK(largest_difference(found.node_energy, flat(expected.at("atomic_energies"))) < tolerance);
  CHECK(largest_difference(found.forces, flat(expected.at("forces"))) < tolerance);
  CHECK(largest_difference(array_of(found.virial), flat(expected.at("virial"))) < virial_tolerance);
}

}    // namespace

TEST_CASE("golden Ewald sums")
{
  const std::string system = GENERATE("nacl64", "nacl64_charged", "nacl64_triclinic");
  const std::string accuracy = GENERATE("1e-06", "1e-10");
  const int ranks = GENERATE(1, 2, 3, 4, 8);
  const Way way = GENERATE(from_range(std::begin(kWays), std::end(kWays)));
  CAPTURE(system, accuracy, ranks, way.lanes, way.device_graph);
  if ((way.lanes || way.device_graph) && ranks != 1 && ranks != 3) return;    // quicker
  const nlohmann::json golden = golden_numbers("ewald_" + system + "_acc" + accuracy + ".json");
  const nlohmann::json &given = golden.at("params");
  const int largest = accuracy == "1e-06" ? 5 : 6;
  const std::int64_t side = 2 * largest + 1;
  REQUIRE(given.at("num_k_half_space").get<std::int64_t>() == (side * side * side - 1) / 2);
  const ModelSpec model = charged_model("ewald", given.at("cutoff").get<double>(),
                                        {{"alpha", given.at("alpha")},
                                         {"coulomb_constant", given.at("coulomb_constant")},
                                         {"k_largest", {largest, largest, largest}}});
  const ChargedResult found = evaluate_on(ranks, model, golden_system(golden), way);
  compare(found, golden, kSameSum, kSameSum);
  if (accuracy == "1e-10")
    compare(found, golden.at("independent_fp64_reference"), kConverged, kConvergedVirial);
}

TEST_CASE("parameters chosen from the accuracy reach the golden reference")
{
  const std::string system = GENERATE("nacl64", "nacl64_charged", "nacl64_triclinic");
  CAPTURE(system);
  const nlohmann::json golden = golden_numbers("ewald_" + system + "_acc1e-10.json");
  const nlohmann::json &expected = golden.at("independent_fp64_reference");
  constexpr double kAccuracy = 1e-8;
  ModelSpec model =
      charged_model("ewald", 9.0, {{"accuracy", kAccuracy}, {"coulomb_constant", 14.3996}});
  if (GENERATE(false, true)) model.cutoff.reset();
  const ChargedResult found = evaluate_one(model, golden_system(golden));
  std::vector<double> difference = flat(expected.at("forces"));
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= found.forces[i];
  CHECK(root_mean_square(difference) < 14.3996 * kAccuracy);
}
