// If these fail, a sum of models is not the sum of what each gives alone, or models in a pipeline
// pay for one another's cutoffs.
#include <cmath>

#include "catch.h"
#include "comm/thread_communicator.h"
#include "ewald/charged_system.h"
#include "pipeline/pipeline_run.h"
#include "pipeline/toy_models.h"
#include "potentials/runnable_spec.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kRoundOff = 1e-12;    // relative, sums in another order

Json member(const PipelineFolder &folder, const std::string &name)
{
  if (name == "lj")
    return native_model("SPEC_LJ_HALO", "lj", 4.0, {{"epsilon", 0.01}, {"sigma", 2.5}});
  if (name == "dftd3")
    return native_model("SPEC_DFTD3_HALO", "dftd3", 12.0,
                        {{"functional", "pbe"},
                         {"damping", "bj"},
                         {"reference", std::string(MLIP_DD_SOURCE_DIR) +
                                           "/tests/golden/numeric/dftd3_reference_subset.json"}});
  if (name == "pme") return native_model("SPEC_PME_HALO", "pme", 5.0, {{"accuracy", 1e-5}});
  return folder.scripted_model("toy", kChargesSource, 5.0, {"types", "edge_index", "edge_vectors"},
                               {"node_energy"});
}

PeriodicSystem ions() { return random_charges(3, 40, orthogonal_cell(9, 10, 11)); }

}    // namespace

TEST_CASE("a sum of models is the sum of their results, in either order", "[pipeline]")
{
  const std::vector<std::string> names{"lj", "dftd3", "pme", "toy"};
  const PipelineFolder folder;
  const PeriodicSystem system = ions();
  PipelineRun run;
  run.ranks = 2;
  std::mt19937_64 random(run_seed());
  run.owners = random_owners(random, system.size(), 2);
  std::vector<PipelineResult> alone;
  Json models;
  for (const std::string &name : names) {
    models[name] = member(folder, name);
    alone.push_back(run_pipeline(folder.write(name + ".json", models[name]), system, run));
    REQUIRE(std::abs(alone.back().energy) > 1e-3);
    REQUIRE(root_mean_square(alone.back().forces) > 1e-4);
  }
  const std::vector<double> weights{1.0, 1.0, -0.5, 2.0};
  const bool autograd = GENERATE(false, true);
  for (const std::vector<std::size_t> &order :
       {std::vector<std::size_t>{0, 1}, {1, 0}, {0, 3}, {2, 1}, {0, 1, 2, 3}, {3, 2, 1, 0}}) {
    Json steps = Json::array(), used;
    PipelineResult sum;
    sum.forces.assign(alone[0].forces.size(), 0.0);
    sum.node_virial.assign(alone[0].node_virial.size(), 0.0);
    double size = 0.0;
    for (const std::size_t k : order) {
      INFO(names[k]);
      used[names[k]] = models[names[k]];
      steps.push_back({{"model", names[k]}, {"weight", weights[k]}});
      sum.energy += weights[k] * alone[k].energy;
      size += std::abs(alone[k].energy);
      for (std::size_t i = 0; i < sum.forces.size(); ++i)
        sum.forces[i] += weights[k] * alone[k].forces[i];
      for (std::size_t i = 0; i < sum.node_virial.size(); ++i)
        sum.node_virial[i] += weights[k] * alone[k].node_virial[i];
      for (std::size_t i = 0; i < 9; ++i) sum.virial[i] += weights[k] * alone[k].virial[i];
    }
    const PipelineResult found =
        run_pipeline(folder.write("sum.json", pipeline_of(used, steps, autograd)), system, run);
    CHECK(std::abs(found.energy - sum.energy) < kRoundOff * size);
    CHECK(largest_difference(found.forces, sum.forces) < kRoundOff * size);
    CHECK(largest_difference(found.node_virial, sum.node_virial) < kRoundOff * size);
    for (std::size_t i = 0; i < 9; ++i)
      CHECK(std::abs(found.virial[i] - sum.virial[i]) < kRoundOff * size);
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t m = order[k];
      CHECK(found.step_energies[k] == Approx(weights[m] * alone[m].energy).epsilon(kRoundOff));
      // Each pays for its own cutoff: same edges, rows and bytes as alone.
      CHECK(found.counts[k].candidates == alone[m].counts[0].candidates);
      CHECK(found.counts[k].halo == alone[m].counts[0].halo);
      CHECK(found.traffic[k].bytes_sent == alone[m].traffic[0].bytes_sent);
      CHECK(found.traffic[k].gathers == alone[m].traffic[0].gathers);
    }
  }
}

TEST_CASE("outputs that are not additive are the first model's", "[pipeline]")
{
  const PipelineFolder folder;
  const PeriodicSystem system = ions();
  Json models{{"a", member(folder, "lj")}, {"b", member(folder, "toy")}};
  Json file = pipeline_of(models, {"b", "a"}, false);
  file["pipeline"]["additive"] = {"energy"};
  const PipelineResult both = run_pipeline(folder.write("p.json", file), system);
  const PipelineResult b = run_pipeline(folder.write("b.json", models["b"]), system);
  CHECK(both.forces == b.forces);
  CHECK(both.virial == b.virial);
  CHECK(std::abs(both.energy - b.energy) > 1e-3);
}

TEST_CASE("models with one cutoff share a graph", "[pipeline]")
{
  const PipelineFolder folder;
  const PeriodicSystem system = ions();
  const Json source = member(folder, "toy");
  const Json models{{"a", source}, {"b", source}};
  run_virtual_ranks(2, [&](Communicator &communicator) {
    RunnableSpec spec(folder.write(std::to_string(communicator.rank()) + ".json",
                                   pipeline_of(models, {"a", "b"}, false)));
    spec.realise("auto", 2);
    const auto pipeline = spec.make({"cpu", 1}, communicator, 0);
    std::vector<int> owners(static_cast<std::size_t>(system.size()), 0);
    for (std::size_t i = 0; i < owners.size(); i += 2) owners[i] = 1;
    const VirtualRank view(system, owners, communicator.rank(), 6.0);
    pipeline->rebuild(view.atoms(), view.neighbours(), 0.5);
    CHECK(&pipeline->runner(0).graph() == &pipeline->runner(1).graph());
    pipeline->evaluate(view.step(), {});
    CHECK(pipeline->runner(0).output().forces == pipeline->runner(1).output().forces);
    pipeline->rebuild(view.atoms(), view.neighbours(), 0.5);
    CHECK(&pipeline->runner(0).graph() == &pipeline->runner(1).graph());
  });
}
