// If these fail, one of the ways of carrying out a policy gives other numbers than the others, or
// is not what its name says.
#include <random>
#include <string>
#include <vector>

#include "catch.h"
#include "pipeline/realisation.h"
#include "property/toy_model.h"
#include "spec/names.h"
#include "spec/spec_file.h"
#include "support/model_run.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kCutoff = 3.0;
constexpr int kRanks = 4;
constexpr double kRoundOff = 1e-11;    // float64 sums of some hundred terms of order one

struct Ways {
  StoragePolicy policy;
  bool replicate_geometry;
  std::vector<const char *> halo;
};

const std::vector<Ways> kPolicies{
    {halo_policy(), false, {"auto", "exchange", "padded", "all", "wide"}},
    {halo_policy(ScatterMode::Local), false, {"auto", "padded", "all", "wide"}},
    {halo_policy(ScatterMode::HaloCorrection, GatherMode::Local),
     false,
     {"auto", "padded", "wide"}},
    {halo_policy(ScatterMode::Local, GatherMode::Local), false, {"auto", "wide"}},
    {refresh_halo_policy(), false, {"auto", "exchange", "padded", "all", "wide"}},
    {refresh_halo_policy(ScatterMode::HaloCorrection), false, {"auto", "padded"}},
    {shard_policy(), false, {"auto", "exchange", "all"}},
    {local_policy(), false, {"auto", "wide"}},
    {graph_parallel_policy(), false, {"auto", "all", "exchange", "padded", "wide"}},
    {graph_parallel_policy(), true, {"auto", "all", "exchange", "padded", "wide"}},
};

PeriodicSystem charged_bulk()
{
  std::mt19937_64 random(81);
  PeriodicSystem system = random_system(random, 36, tilted_cell(9, 7, 6, 0.2), 2, 1.3);
  for (std::int64_t i = 0; i < system.size(); ++i)
    system.charges.push_back(0.1 * static_cast<double>(i % 7) - 0.3);
  return system;
}

struct Carried {
  Realisation how;
  ModelResult result;
};

Carried carry_out(const Ways &ways, const std::string &halo, const Toy &toy, const ModelSpec &model,
                  const PeriodicSystem &system)
{
  SpecFile file;
  file.path = "test.json";
  file.spec.distribution.policy = ways.policy;
  file.spec.gp_replicate_geometry = ways.replicate_geometry;
  file.model = model;
  Carried carried{choose_realisation(file, halo, kRanks), {}};
  std::mt19937_64 random(82);
  ModelRun run;
  run.owners = random_owners(random, system.size(), kRanks, {1});
  run.ranks = kRanks;
  run.mode = carried.how.mode;
  run.every_atom = carried.how.every_atom;
  run.node_virial = toy.form == ToyForm::edge_vectors;
  carried.result = run_model(model, system, system, run);
  return carried;
}

}    // namespace

TEST_CASE("all ways of carrying out a policy agree, and are what they are called", "[policies]")
{
  const PeriodicSystem system = charged_bulk();
  for (const ToyForm form : {ToyForm::edge_vectors, ToyForm::positions}) {
    Toy toy;
    toy.form = form;
    toy.depth = 2;
    toy.system_sums = toy.charges = true;
    const TemporaryFile file(".pt");
    const ModelSpec model = write_toy(toy, kCutoff, file.path());
    ModelRun alone = dense_run(system);
    alone.node_virial = form == ToyForm::edge_vectors;
    const ModelResult dense = run_model(model, system, system, alone);
    CHECK(difference(dense.forces, std::vector<double>(dense.forces.size())) > 0.1);
    CHECK(difference(dense.charge_gradient, std::vector<double>(dense.charge_gradient.size())) >
          0.01);
    for (const Ways &ways : kPolicies)
      for (const char *halo : ways.halo) {
        const Carried carried = carry_out(ways, halo, toy, model, system);
        const ModelResult &result = carried.result;
        INFO(describe(toy) << "; " << to_name(ways.policy.kind) << ", halo " << halo << ": "
                           << carried.how.text);
        CHECK(difference(result.node_energy, dense.node_energy) < kRoundOff);
        CHECK(difference(result.forces, dense.forces) < kRoundOff);
        CHECK(difference(result.virial, dense.virial) < 10 * kRoundOff);
        CHECK(difference(result.node_virial, dense.node_virial) < 10 * kRoundOff);
        CHECK(difference(result.charge_gradient, dense.charge_gradient) < kRoundOff);

        const GraphCounts &counts = result.counts;
        const bool padded = counts.model_rows == counts.owned + counts.halo;
        CHECK(padded == (carried.how.mode != HaloMode::exchange));
        // Two gathers of rows in reach, or none; the model's own, beside those of its inputs.
        CHECK((result.model_traffic.scatters > 0) == (carried.how.mode != HaloMode::wide));
        if (carried.how.every_atom) CHECK(counts.owned + counts.halo == system.size());
      }
  }
}

TEST_CASE("in a box larger than the reach, `all` holds more rows and `exchange` those in reach",
          "[policies]")
{
  // A long row of atoms in slabs: most of them are far from a rank's own.
  PeriodicSystem system;
  system.cell = orthogonal_cell(60, 20, 20);
  std::vector<int> owners;
  for (int i = 0; i < 30; ++i) {
    system.positions.insert(system.positions.end(), {2.0 * i + 0.5, 10.0, 10.0});
    system.types.push_back(i % 2);
    owners.push_back(i * kRanks / 30);
  }
  Toy toy;
  toy.depth = 3;
  const TemporaryFile file(".pt");
  const ModelSpec model = write_toy(toy, kCutoff, file.path());
  const ModelResult dense = run_model(model, system, system, dense_run(system));
  ModelRun run;
  run.owners = owners;
  run.ranks = kRanks;
  for (const bool every_atom : {false, true}) {
    run.every_atom = every_atom;
    const ModelResult result = run_model(model, system, system, run);
    CHECK(difference(result.forces, dense.forces) < kRoundOff);
    CHECK(result.counts.owned + result.counts.halo == (every_atom ? 30 : result.counts.owned + 2));
  }
}
