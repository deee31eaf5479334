// If these fail, Lennard-Jones on a GPU computes something else than on the CPU: these are the sums
// of its lanes, run without one.
#include <ATen/ATen.h>

#include <random>

#include "catch.h"
#include "pair/lane_run.h"
#include "pipeline/output_tensors.h"
#include "potentials/lj/lj_lanes.h"
#include "potentials/lj/lj_parameters.h"
#include "potentials/pair/device_pairs.h"

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
    lanes.add(LjLanes{rows.view(), parameters.pairs.data(),
                      parameters.switch_width > 0.0 ? 1.0 / parameters.switch_width : 0.0});
    check_same(lanes.result(), run_native(model, system, system), kRoundOff);
  }
}

TEST_CASE("sums of lanes that stay on their device add up to those on the CPU")
{
  std::mt19937_64 random(run_seed());
  std::uniform_real_distribution<double> some(-1.0, 1.0);
  constexpr std::int64_t kRows = 5;
  const at::Tensor sums = empty_lane_sums(kRows, at::TensorOptions());
  std::vector<LaneSums> on_host;
  for (std::int64_t row = 0; row < kRows; ++row) {
    LaneSums own;
    for (double &value : own.force) value = some(random);
    for (double &value : own.moment) value = some(random);
    own.energy = some(random);
    lane_sums(sums)[row] = own;
    on_host.push_back(own);
  }
  PotentialOutput expected, found;
  expected.node_energy.assign(kRows, 0.0);
  expected.forces.assign(3 * kRows, 0.0);
  expected.node_virial.assign(9 * kRows, 0.0);
  add_lane_sums(on_host, /*node_virial=*/true, expected);
  found.tensors = std::make_shared<OutputTensors>(at::zeros({kRows}, at::kDouble),
                                                  at::zeros({kRows, 3}, at::kDouble),
                                                  at::zeros({kRows, 9}, at::kDouble));
  add_lane_sums(sums, found);
  copy_to_arrays(found);
  check_same({found.energy, found.virial, found.node_energy, found.forces, found.node_virial},
             {expected.energy, expected.virial, expected.node_energy, expected.forces,
              expected.node_virial},
             kRoundOff);
}
