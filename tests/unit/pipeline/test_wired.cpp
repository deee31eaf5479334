// If these fail, forces or stresses of models that feed one another lack the term in which one
// model's output moves the other's energy, or depend on the number of ranks.
#include <cmath>

#include "base/error.h"
#include "catch.h"
#include "ewald/charged_system.h"
#include "pipeline/pipeline_run.h"
#include "pipeline/toy_models.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

// Fourth-order differences of energies of some 100 eV in float64, over forces of order 1 eV/A.
constexpr double kDifference = 1e-7;
// What leaving out the chain term costs at the least, on the same scale.
constexpr double kMissed = 1e-2;
constexpr double kRanks = 1e-12;    // relative, sums in another order
// PME's own interpolation breaks the symmetry of its forces by less than its accuracy.
constexpr double kMeshAccuracy = 1e-9;

const std::vector<std::string> kGeometry{"types", "edge_index", "edge_vectors"};

PeriodicSystem ions(bool skewed = false)
{
  // 12 ions, 4.1 to 7 A between planes: smaller than every cutoff.
  return random_charges(5, 12, skewed ? tilted_cell(6.5, 7.0, 7.5, 0.3) : orthogonal_cell(6, 7, 8));
}

Json charges_model(const PipelineFolder &folder)
{
  return folder.scripted_model("q", kChargesSource, 5.0, kGeometry, {"node_energy", "charges"});
}

Json ewald_model() { return native_model("SPEC_EWALD_HALO", "ewald", 5.0, {{"accuracy", 1e-10}}); }
Json pme_model()
{
  return native_model("SPEC_PME_HALO", "pme", 5.0, {{"accuracy", kMeshAccuracy}, {"order", 8}});
}

Json wired(const std::string &model, const Json &wire)
{
  return {{"model", model}, {"wire", wire}};
}

// q(R) -> alpha(q, R) -> pairs(alpha, q, R), and q -> Ewald; lj beside them.
std::string chain(const PipelineFolder &folder)
{
  const Json models{
      {"q", charges_model(folder)},
      {"polar",
       folder.scripted_model("polar", kPolarSource, 4.0, {"edge_index", "edge_vectors", "charges"},
                             {"node_energy", "alpha"})},
      {"pairs",
       folder.scripted_model("pairs", kPairsSource, 4.5,
                             {"edge_index", "edge_vectors", "alpha", "charges"}, {"node_energy"})},
      {"ewald", ewald_model()},
      {"lj", native_model("SPEC_LJ_HALO", "lj", 6.0, {{"epsilon", 0.01}, {"sigma", 2.0}})}};
  // Consumers stand before their producers.
  return folder.write(
      "chain.json",
      pipeline_of(models,
                  {"lj", wired("pairs", {{"alpha", "polar.alpha"}, {"charges", "q.charges"}}),
                   wired("ewald", {{"charges", "q.charges"}}),
                   wired("polar", {{"charges", "q.charges"}}), "q"}));
}

void check_same(const PipelineResult &found, const PipelineResult &expected)
{
  const double forces = root_mean_square(expected.forces);
  REQUIRE(forces > 0.1);
  CHECK(std::abs(found.energy - expected.energy) < kRanks * std::abs(expected.energy));
  CHECK(largest_difference(found.forces, expected.forces) < 1e2 * kRanks * forces);
  CHECK(largest_difference(found.node_energy, expected.node_energy) <
        1e2 * kRanks * root_mean_square(expected.node_energy));
  CHECK(largest_difference(found.node_virial, expected.node_virial) <
        1e2 * kRanks * root_mean_square(expected.node_virial));
  for (std::size_t k = 0; k < 9; ++k)
    CHECK(std::abs(found.virial[k] - expected.virial[k]) <
          1e2 * kRanks * std::abs(expected.energy));
}

std::string refusal(const std::string &spec, const PeriodicSystem &system)
{
  try {
    run_pipeline(spec, system);
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

}    // namespace

TEST_CASE("charges into a lattice sum: forces and stress by differences", "[pipeline]")
{
  const bool mesh = GENERATE(false, true);
  const bool skewed = GENERATE(false, true);
  CAPTURE(mesh, skewed);
  const PipelineFolder folder;
  PeriodicSystem system = ions(skewed);
  system.charges.clear();
  const Json models{{"q", charges_model(folder)}, {"sum", mesh ? pme_model() : ewald_model()}};
  const std::string spec =
      folder.write("p.json", pipeline_of(models, {"q", wired("sum", {{"charges", "q.charges"}})}));
  const PipelineResult found = run_pipeline(spec, system);
  const PipelineDeviations off = pipeline_differences(spec, system, found);
  CHECK(off.forces < (mesh ? 10.0 * kMeshAccuracy : 0.0) + kDifference);
  CHECK(off.virial < (mesh ? 10.0 * kMeshAccuracy : 0.0) + kDifference);

  // The same charges held fixed: what is left out is the chain term, in forces and in stress.
  PipelineRun with_charges;
  with_charges.request.output_fields = {"charges"};
  PeriodicSystem fixed = system;
  fixed.charges = run_pipeline(spec, system, with_charges).fields.at("charges");
  const PipelineResult producer = run_pipeline(folder.write("q.json", models["q"]), system);
  const PipelineResult consumer = run_pipeline(folder.write("sum.json", models["sum"]), fixed);
  REQUIRE(producer.energy + consumer.energy == Approx(found.energy).epsilon(1e-12));
  PipelineResult without = producer;
  for (std::size_t k = 0; k < without.forces.size(); ++k) without.forces[k] += consumer.forces[k];
  for (std::size_t k = 0; k < 9; ++k) without.virial[k] += consumer.virial[k];
  const PipelineDeviations missed = pipeline_differences(spec, system, without);
  CHECK(missed.forces > kMissed);
  CHECK(missed.virial > kMissed);
}

TEST_CASE("a chain of three, several fields, several consumers", "[pipeline]")
{
  const PipelineFolder folder;
  PeriodicSystem system = ions(true);
  system.charges.clear();
  const std::string spec = chain(folder);
  PipelineRun run;
  run.request.output_fields = {"charges"};
  const PipelineResult one = run_pipeline(spec, system, run);
  for (const double energy : one.step_energies) CHECK(std::abs(energy) > 1e-3);
  const PipelineDeviations off = pipeline_differences(spec, system, one);
  CHECK(off.forces < kDifference);
  CHECK(off.virial < kDifference);

  std::mt19937_64 random(run_seed());
  for (const int ranks : {2, 3, 8}) {
    CAPTURE(ranks);
    run.ranks = ranks;
    run.owners = random_owners(random, system.size(), ranks,
                               ranks == 8 ? std::vector<int>{0, 5} : std::vector<int>{});
    const PipelineResult many = run_pipeline(spec, system, run);
    check_same(many, one);
    CHECK(largest_difference(many.fields.at("charges"), one.fields.at("charges")) < 1e-13);
  }
  run.ranks = 2;
  run.owners = random_owners(random, system.size(), 2);
  run.halo = "wide";
  check_same(run_pipeline(spec, system, run), one);
}

TEST_CASE("fields of models on a device are tensors there, from one to the next", "[pipeline]")
{
  // Of the chain two models are of the host, and one of them takes what a model on the device made.
  const PipelineFolder folder;
  PeriodicSystem system = ions(true);
  system.charges.clear();
  const std::string spec = chain(folder);
  PipelineRun run;
  run.request.output_fields = {"charges"};
  const PipelineResult expected = run_pipeline(spec, system, run);
  std::mt19937_64 random(run_seed());
  for (const int ranks : {1, 3}) {
    CAPTURE(ranks);
    run.on_device = true;
    run.ranks = ranks;
    run.owners = random_owners(random, system.size(), ranks);
    const PipelineResult found = run_pipeline(spec, system, run);
    check_same(found, expected);
    CHECK(largest_difference(found.fields.at("charges"), expected.fields.at("charges")) < 1e-13);
    CHECK(found.left_on_host == 0);
  }
}

TEST_CASE("charges balanced inside the producer, on ranks without atoms too", "[pipeline]")
{
  // Between forward and backward of the producer come the sums of the consumer.
  const PipelineFolder folder;
  PeriodicSystem system = ions();
  system.charges.clear();
  const Json models{{"q", folder.scripted_model("q", kBalancedSource, 5.0,
                                                {"types", "edge_index", "edge_vectors", "batch"},
                                                {"node_energy", "charges"})},
                    {"ewald", ewald_model()}};
  const std::string spec = folder.write(
      "p.json", pipeline_of(models, {"q", wired("ewald", {{"charges", "q.charges"}})}));
  PipelineRun run;
  run.request.output_fields = {"charges"};
  const PipelineResult one = run_pipeline(spec, system, run);
  double total = 0.0;
  for (const double charge : one.fields.at("charges")) total += charge;
  CHECK(std::abs(total) < 1e-12);
  const PipelineDeviations off = pipeline_differences(spec, system, one);
  CHECK(off.forces < kDifference);
  CHECK(off.virial < kDifference);
  std::mt19937_64 random(run_seed());
  run.ranks = 4;
  run.owners = random_owners(random, system.size(), 4, {0, 2});
  // The first evaluation records the producer's sums, the second replays them.
  for (const PipelineResult &many :
       run_pipeline(spec, system, std::vector<PeriodicSystem>{system, system}, run))
    check_same(many, one);
}

TEST_CASE("a producer without an energy of its own, and weights", "[pipeline]")
{
  const PipelineFolder folder;
  PeriodicSystem system = ions();
  system.charges.clear();
  const Json models{
      {"q", folder.scripted_model("q", kChargesAloneSource, 5.0, kGeometry, {"charges"})},
      {"ewald", ewald_model()}};
  Json consumer = wired("ewald", {{"charges", "q.charges"}});
  const PipelineResult full =
      run_pipeline(folder.write("full.json", pipeline_of(models, {"q", consumer})), system);
  CHECK(full.step_energies[0] == 0.0);
  consumer["weight"] = 0.25;
  const std::string spec = folder.write("quarter.json", pipeline_of(models, {"q", consumer}));
  const PipelineResult quarter = run_pipeline(spec, system);
  CHECK(quarter.energy == Approx(0.25 * full.energy).epsilon(1e-12));
  CHECK(pipeline_differences(spec, system, quarter).forces < kDifference);
  for (std::size_t k = 0; k < full.forces.size(); ++k)
    CHECK(quarter.forces[k] == Approx(0.25 * full.forces[k]).margin(1e-10));

  // A producer's own weight does not touch what its consumers make of it.
  const Json with_energy{{"q", charges_model(folder)}, {"ewald", ewald_model()}};
  const std::string weighted = folder.write(
      "weighted.json", pipeline_of(with_energy, {Json{{"model", "q"}, {"weight", 3.0}},
                                                 wired("ewald", {{"charges", "q.charges"}})}));
  const PipelineResult found = run_pipeline(weighted, system);
  const PipelineDeviations off = pipeline_differences(weighted, system, found);
  CHECK(off.forces < kDifference);
  CHECK(off.virial < kDifference);
}

TEST_CASE("charges are made to sum to the total", "[pipeline]")
{
  const PipelineFolder folder;
  PeriodicSystem system = ions();
  system.charges.clear();
  const Json models{{"q", charges_model(folder)}, {"ewald", ewald_model()}};
  Json consumer = wired("ewald", {{"charges", "q.charges"}});
  const auto written = [&](const std::string &name) {
    return folder.write(name, pipeline_of(models, {"q", consumer}));
  };
  const PipelineResult as_they_are = run_pipeline(written("none.json"), system);
  consumer["neutralize"] = "shift";
  consumer["total_charge"] = 0.5;
  const std::string shift = written("shift.json");
  PipelineRun run;
  const PipelineResult shifted = run_pipeline(shift, system, run);
  REQUIRE(std::abs(shifted.energy - as_they_are.energy) > 1e-2);
  const PipelineDeviations off = pipeline_differences(shift, system, shifted);
  CHECK(off.forces < kDifference);
  CHECK(off.virial < kDifference);
  run.ranks = 3;
  std::mt19937_64 random(run_seed());
  run.owners = random_owners(random, system.size(), 3, {1});
  check_same(run_pipeline(shift, system, run), shifted);

  consumer["neutralize"] = "error";
  CHECK_THAT(refusal(written("error.json"), system), contains("do not sum to its total_charge"));
}

TEST_CASE("gradients by fields that atoms carry", "[pipeline]")
{
  const PipelineFolder folder;
  const PeriodicSystem system = ions();
  const Json models{
      {"polar",
       folder.scripted_model("polar", kPolarSource, 4.0, {"edge_index", "edge_vectors", "charges"},
                             {"node_energy", "alpha"})},
      {"pairs",
       folder.scripted_model("pairs", kPairsSource, 4.5,
                             {"edge_index", "edge_vectors", "alpha", "charges"}, {"node_energy"})},
      {"ewald", ewald_model()}};
  const std::string spec = folder.write(
      "p.json",
      pipeline_of(models, {"polar", wired("pairs", {{"alpha", "polar.alpha"}}), "ewald"}));
  PipelineRun run;
  run.request.gradients = {"charges"};
  const PipelineResult one = run_pipeline(spec, system, run);
  constexpr double kStep = 1e-3;
  std::vector<PeriodicSystem> steps;
  for (std::size_t i = 0; i < system.charges.size(); ++i)
    for (const double step : {-2.0, -1.0, 1.0, 2.0}) {
      steps.push_back(system);
      steps.back().charges[i] += step * kStep;
    }
  const auto at = run_pipeline(spec, system, steps);
  std::vector<double> gradient;
  for (std::size_t i = 0; i < system.charges.size(); ++i)
    gradient.push_back((at[4 * i].energy - 8.0 * at[4 * i + 1].energy + 8.0 * at[4 * i + 2].energy -
                        at[4 * i + 3].energy) /
                       (12.0 * kStep));
  const double size = root_mean_square(gradient);
  REQUIRE(size > 1.0);
  CHECK(largest_difference(one.gradients.at("charges"), gradient) < kDifference * size);
  run.ranks = 3;
  std::mt19937_64 random(run_seed());
  run.owners = random_owners(random, system.size(), 3);
  CHECK(largest_difference(run_pipeline(spec, system, run).gradients.at("charges"),
                           one.gradients.at("charges")) < 1e2 * kRanks * size);
  // What atoms carry is read on the device; the gradient is summed with that of a host's model.
  run.on_device = true;
  const PipelineResult found = run_pipeline(spec, system, run);
  CHECK(largest_difference(found.gradients.at("charges"), one.gradients.at("charges")) <
        1e2 * kRanks * size);
  CHECK(found.left_on_host == 0);
}

TEST_CASE("consumers that don't depend on their input, and wrong shapes, are refused", "[pipeline]")
{
  const PipelineFolder folder;
  PeriodicSystem system = ions();
  system.charges.clear();
  constexpr const char *kDeaf = R"(
    def forward(self, edge_index, edge_vectors, charges):
        return torch.zeros_like(charges).index_add(0, edge_index[0], (edge_vectors ** 2).sum(1))
)";
  const Json models{
      {"q", charges_model(folder)},
      {"deaf", folder.scripted_model("deaf", kDeaf, 4.0, {"edge_index", "edge_vectors", "charges"},
                                     {"node_energy"})}};
  CHECK_THAT(refusal(folder.write("deaf.json", pipeline_of(models, {"q", "deaf"})), system),
             contains("does not depend on one of its inputs"));
  PeriodicSystem charged = ions();
  const Json wide{{"polar", folder.scripted_model("polar", kPolarSource, 4.0,
                                                  {"edge_index", "edge_vectors", "charges"},
                                                  {"node_energy", "alpha"})},
                  {"ewald", ewald_model()}};
  CHECK_THAT(
      refusal(
          folder.write("wide.json",
                       pipeline_of(wide, {"polar", wired("ewald", {{"charges", "polar.alpha"}})})),
          charged),
      contains("one number per atom"));
  CHECK_THAT(refusal(folder.write("bare.json", ewald_model()), system),
             contains("do not carry what the model needs"));
}
