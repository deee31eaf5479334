// If these fail, charges wired into a lattice sum give other energies, forces or stresses than the
// independent values (tests/golden/numeric/README.md), or than one rank gives.
#include <cmath>

#include "catch.h"
#include "ewald/charged_system.h"
#include "pipeline/pipeline_run.h"
#include "pipeline/toy_models.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

// The golden program sums at an accuracy of 1e-6 of the force between two unit charges 1 A apart;
// ours is two digits better, so what is seen is the golden's truncation.
constexpr double kGoldenEnergy = 3e-5;    // eV, of -260
constexpr double kGoldenForce = 3e-6;     // eV/Angstrom
constexpr double kGoldenStress = 1e-7;    // eV/Angstrom^3, of 0.07
constexpr double kRanks = 1e-12;          // relative, of the energy
constexpr double kRankForces = 1e-10;     // eV/Angstrom

std::string wired(const PipelineFolder &folder, const std::string &potential,
                  const nlohmann::json &golden)
{
  const auto &given = golden.at("consumer");
  Json parameters{{"accuracy", 1e-8}, {"coulomb_constant", given.at("coulomb_constant")}};
  const std::string preset = potential == "pme" ? "SPEC_PME_HALO" : "SPEC_EWALD_HALO";
  const Json models{
      {"q", folder.scripted_model("q", kChargesSource, 5.0, {"types", "edge_index", "edge_vectors"},
                                  {"node_energy", "charges"})},
      {"sum", native_model(preset, potential, 9.0, parameters)}};
  return folder.write(
      "pipeline.json",
      pipeline_of(models, {"q", {{"model", "sum"}, {"wire", {{"charges", "q.charges"}}}}}));
}

}    // namespace

TEST_CASE("toy charges into a lattice sum", "[pipeline][golden]")
{
  const auto [potential, file] = GENERATE(table<std::string, std::string>(
      {{"ewald", "pipeline_wired_ewald_nacl64.json"}, {"pme", "pipeline_wired_pme_nacl64.json"}}));
  INFO(potential);
  const nlohmann::json golden = golden_numbers(file);
  PeriodicSystem system = golden_system(golden);
  system.charges.clear();    // the atoms carry none
  const PipelineFolder folder;
  const std::string spec = wired(folder, potential, golden);
  PipelineRun dense;
  dense.request.output_fields = {"charges"};
  const PipelineResult one = run_pipeline(spec, system, dense);

  CHECK(largest_difference(one.fields.at("charges"), flat(golden.at("charges"))) < 1e-12);
  CHECK(std::abs(one.step_energies[0] - golden.at("producer_energy").get<double>()) < 1e-12);
  CHECK(std::abs(one.energy - golden.at("energy").get<double>()) < kGoldenEnergy);
  CHECK(largest_difference(one.forces, flat(golden.at("forces"))) < kGoldenForce);
  const std::vector<double> stress = flat(golden.at("stress"));
  const double volume = std::pow(11.28, 3);
  REQUIRE(std::abs(stress[0]) > 0.05);
  for (std::size_t k = 0; k < 9; ++k)
    CHECK(std::abs(-one.virial[k] / volume - stress[k]) < kGoldenStress);

  std::mt19937_64 random(run_seed());
  for (const int ranks : {2, 3, 4, 8}) {
    INFO(ranks << " ranks");
    PipelineRun run = dense;
    run.ranks = ranks;
    run.owners = random_owners(random, system.size(), ranks,
                               ranks == 4 ? std::vector<int>{1} : std::vector<int>{});
    const PipelineResult many = run_pipeline(spec, system, run);
    CHECK(std::abs(many.energy - one.energy) < kRanks * std::abs(one.energy));
    CHECK(largest_difference(many.forces, one.forces) < kRankForces);
    CHECK(largest_difference(many.node_energy, one.node_energy) < kRankForces);
    CHECK(largest_difference(many.node_virial, one.node_virial) < kRankForces);
    CHECK(largest_difference(many.fields.at("charges"), one.fields.at("charges")) < kRankForces);
    for (std::size_t k = 0; k < 9; ++k)
      CHECK(std::abs(many.virial[k] - one.virial[k]) < kRankForces * volume);
  }
}
