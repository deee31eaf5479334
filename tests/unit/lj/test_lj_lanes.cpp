// If these fail, Lennard-Jones on a GPU computes something else than on the CPU: these are the sums
// of its lanes, and what is done with them, run without one.
#include <random>

#include "catch.h"
#include "pair/native_run.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kRoundOff = 1e-12;    // float64 sums of some thousand terms, relative

}    // namespace

TEST_CASE("lanes give the Lennard-Jones energies and forces of the CPU's kernel")
{
  std::mt19937_64 random(run_seed());
  const PeriodicSystem system = random_system(random, 25, tilted_cell(8, 7, 9, 0.2), 2, 1.9);
  for (const nlohmann::json &more :
       {nlohmann::json{{"shift", false}}, nlohmann::json{{"shift", true}},
        nlohmann::json{{"switch_width", 1.2}},
        nlohmann::json{{"shift", true}, {"cutoffs", {{4.0, 5.0}, {5.0, 3.0}}}}}) {
    INFO(more.dump());
    ModelSpec model;
    model.potential = "lj";
    model.cutoff = 5.0;
    model.elements = {"Ar", "Ne"};
    model.parameters = {{"epsilon", {{0.010, 0.013}, {0.013, 0.020}}},
                        {"sigma", {{2.6, 2.3}, {2.3, 1.9}}}};
    model.parameters.update(more);
    check_kernels(model, system, kRoundOff);
  }
}
