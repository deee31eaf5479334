// If these fail, potentials without a model file give other energies, forces or virials on a GPU
// than on the CPU, for graphs of the host or of the GPU.
#include <random>

#include "catch.h"
#include "dftd3/d3_cases.h"
#include "pair/native_run.h"
#include "pipeline/backed_graph.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kRoundOff = 1e-12;    // float64 sums of some thousand terms, relative

void check_on_gpu(const ModelSpec &model, const PeriodicSystem &system)
{
  const NativeResult expected = run_native(model, system, system);
  std::mt19937_64 random(run_seed());
  for (const int ranks : {1, 3})
    for (const bool on_gpu : {false, true}) {
      CAPTURE(ranks, on_gpu);
      NativeRun run;
      run.ranks = ranks;
      run.owners = random_owners(random, system.size(), ranks);
      run.device = "cuda";
      if (on_gpu)
        run.source = [](const VirtualRank &view) {
          return std::make_unique<BackedSource>(view, c10::Device(c10::kCUDA, 0));
        };
      check_same(run_native(model, system, system, run), expected, kRoundOff);
    }
}

}    // namespace

TEST_CASE("Lennard-Jones on the GPU is that on the CPU")
{
  std::mt19937_64 random(run_seed());
  ModelSpec model;
  model.potential = "lj";
  model.cutoff = 5.0;
  model.elements = {"Ar", "Ne"};
  model.parameters = {{"epsilon", {{0.010, 0.013}, {0.013, 0.020}}},
                      {"sigma", {{2.6, 2.3}, {2.3, 1.9}}}};
  const PeriodicSystem system = random_system(random, 60, tilted_cell(11, 9, 12, 0.2), 2, 1.9);
  check_on_gpu(model, system);
  model.parameters["switch_width"] = 1.0;
  check_on_gpu(model, system);
}

TEST_CASE("DFT-D3 on the GPU is that on the CPU, with triples and without")
{
  const PeriodicSystem system = organic_system(run_seed());
  for (const char *damping : {"bj", "zero"}) {
    ModelSpec model = organic(damping, 0.7);
    check_on_gpu(model, system);
    model.parameters["three_body"] = true;
    check_on_gpu(model, system);
  }
}

TEST_CASE("Ewald and PME on the GPU are those on the CPU")
{
  std::mt19937_64 random(run_seed());
  for (const std::string potential : {"ewald", "pme"}) {
    CAPTURE(potential);
    ModelSpec model;
    model.potential = potential;
    model.cutoff = 5.0;
    model.elements = {"Na", "Cl"};
    model.parameters = {{"accuracy", 1e-6}, {"charges", {1.0, -1.0}}};
    check_on_gpu(model, random_system(random, 60, tilted_cell(11, 9, 12, 0.2), 2, 1.9));
  }
}
