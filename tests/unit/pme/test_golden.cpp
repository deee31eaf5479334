// If these fail, PME has other energies, forces or virials than the converged sum of the same
// charges, or is further from it than the reference implementation on the same mesh.
#include "catch.h"
#include "ewald/charged_system.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

// The reference data on 64 points per axis and order 6 are this far from the converged sum, in
// forces and in energy; so may we be from them, and no further from the sum.
constexpr double kPeerForce = 8e-8;
constexpr double kPeerEnergy = 4e-8;

}    // namespace

TEST_CASE("golden PME sums")
{
  const std::string system = GENERATE("nacl64", "nacl64_charged", "nacl64_triclinic");
  const int ranks = GENERATE(1, 2, 3, 4, 8);
  const Way way = GENERATE(from_range(std::begin(kWays), std::end(kWays)));
  CAPTURE(system, ranks, way.lanes, way.device_graph);
  if ((way.lanes || way.device_graph) && ranks != 1 && ranks != 3) return;    // quicker
  const nlohmann::json golden = golden_numbers("pme_" + system + "_acc1e-10_o6m64.json");
  const nlohmann::json &given = golden.at("params");
  const ModelSpec model = charged_model("pme", given.at("cutoff").get<double>(),
                                        {{"alpha", given.at("alpha")},
                                         {"coulomb_constant", given.at("coulomb_constant")},
                                         {"mesh", given.at("mesh_dimensions")},
                                         {"order", given.at("spline_order")}});
  const ChargedResult found = evaluate_on(ranks, model, golden_system(golden), way);
  const std::vector<double> virial(found.virial.begin(), found.virial.end());
  for (const nlohmann::json *expected : {&golden, &golden.at("independent_fp64_ewald_reference")}) {
    CHECK(std::abs(found.energy - expected->at("energy").get<double>()) < kPeerEnergy);
    CHECK(largest_difference(found.node_energy, flat(expected->at("atomic_energies"))) < 1e-7);
    CHECK(largest_difference(found.forces, flat(expected->at("forces"))) < kPeerForce);
    CHECK(largest_difference(virial, flat(expected->at("virial"))) < 4.0 * kPeerEnergy);
  }
}

TEST_CASE("golden PME sums on the reference's own meshes")
{
  // At the low accuracy both parts stop early; what matters is that we are where the reference is.
  const std::string system = GENERATE("nacl64", "nacl64_charged", "nacl64_triclinic");
  const std::string mesh = GENERATE("1e-06", "1e-06_o6m64", "1e-10");
  CAPTURE(system, mesh);
  const nlohmann::json golden = golden_numbers("pme_" + system + "_acc" + mesh + ".json");
  const nlohmann::json &given = golden.at("params");
  const ModelSpec model = charged_model("pme", given.at("cutoff").get<double>(),
                                        {{"alpha", given.at("alpha")},
                                         {"coulomb_constant", given.at("coulomb_constant")},
                                         {"mesh", given.at("mesh_dimensions")},
                                         {"order", given.at("spline_order")}});
  const ChargedResult found = evaluate_one(model, golden_system(golden));
  const nlohmann::json &reference = golden.at("independent_fp64_ewald_reference");
  const nlohmann::json &peer = golden.at("max_abs_diff_peer_vs_reference");
  CHECK(std::abs(found.energy - golden.at("energy").get<double>()) < 2e-6);
  CHECK(largest_difference(found.forces, flat(golden.at("forces"))) < peer.at("dF").get<double>());
  CHECK(largest_difference(found.forces, flat(reference.at("forces"))) <
        1.1 * peer.at("dF").get<double>());
}

TEST_CASE("a mesh chosen from the accuracy reaches the golden reference")
{
  const std::string system = GENERATE("nacl64", "nacl64_charged", "nacl64_triclinic");
  const double accuracy = GENERATE(1e-5, 1e-8);
  const int order = GENERATE(5, 6, 8);
  CAPTURE(system, accuracy, order);
  const nlohmann::json golden = golden_numbers("pme_" + system + "_acc1e-10_o6m64.json");
  const nlohmann::json &expected = golden.at("independent_fp64_ewald_reference");
  const ModelSpec model = charged_model(
      "pme", 9.0, {{"accuracy", accuracy}, {"order", order}, {"coulomb_constant", 14.3996}});
  const ChargedResult found = evaluate_one(model, golden_system(golden));
  std::vector<double> difference = flat(expected.at("forces"));
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= found.forces[i];
  CHECK(std::sqrt(3.0) * root_mean_square(difference) < 14.3996 * accuracy);
}
