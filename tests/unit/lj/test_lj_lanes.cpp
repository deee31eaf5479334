// If these fail, Lennard-Jones on a GPU computes something else than on the CPU: these are the sums
// of its lanes, run without one.
#include <random>

#include "catch.h"
#include "pair/lane_run.h"
#include "potentials/lj/lj_lanes.h"
#include "potentials/lj/lj_parameters.h"

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
    const LjParameters parameters = read_lj_parameters(model);
    const PairRows rows = rows_of(system, parameters.cutoff, parameters.n_types);
    LaneResult lanes(rows);
    lanes.add(LjLanes{view_of(rows), parameters.pairs.data(),
                      parameters.switch_width > 0.0 ? 1.0 / parameters.switch_width : 0.0});
    check_same(lanes.result(), run_native(model, system, system), kRoundOff);
  }
}
