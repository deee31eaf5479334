// If these fail, dispersion energies or forces are not those of DFT-D3, or change with the number
// of ranks: the fault that a ghost shell without exchanged coordination numbers has.
#include <algorithm>
#include <cmath>
#include <random>

#include "catch.h"
#include "dftd3/d3_cases.h"
#include "pair/native_run.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kRoundOff = 1e-12;    // float64 sums of some ten thousand terms, relative
// eV, eV/Angstrom: the golden values are sums in another order, of terms up to 1 eV.
constexpr double kGoldenError = 1e-9;
constexpr double kFormulaError = 1e-8;    // of fourth-order differences with steps of 1e-3 A

}    // namespace

TEST_CASE("the golden systems come out in float64 on 1 and 4 ranks")
{
  std::mt19937_64 random(3);
  for (const std::string name :
       {"dftd3_nacl64_rc9.json", "dftd3_water_benzene_rc6.json", "dftd3_water_benzene_rc15.json",
        "dftd3_water_benzene_rc15_fp32.json", "dftd3_water_benzene_triclinic_rc9.json"}) {
    const Golden golden = read_golden(name);
    const nlohmann::json &given = golden.tree.at("params");
    const double cutoff = given.at("cutoff");
    const ModelSpec model =
        d3_model({{"damping", "bj"},
                  {"a1", given.at("a1")},
                  {"a2", given.at("a2")},
                  {"s6", given.at("s6")},
                  {"s8", given.at("s8")},
                  {"switch_width", cutoff * given.at("smoothing_fraction").get<double>()},
                  // There, neighbours are counted up to the cutoff as they are.
                  {"cn_switch_width", 0.0}},
                 cutoff, golden.elements);
    const nlohmann::json &expected = golden.tree.at("independent_fp64_reference");
    for (const auto &[ranks, lanes] : {std::pair{1, false}, {4, false}, {1, true}, {4, true}}) {
      INFO(name << " on " << ranks << " ranks" << (lanes ? ", by lanes" : ""));
      NativeRun run;
      run.ranks = ranks;
      run.lanes = lanes;
      run.owners = random_owners(random, golden.system.size(), ranks);
      const NativeResult found = run_native(model, golden.system, golden.system, run);
      CHECK(std::abs(found.energy - expected.at("energy").get<double>()) < kGoldenError);
      CHECK(largest_difference(found.node_energy, flat(expected.at("atomic_energies"))) <
            kGoldenError);
      CHECK(largest_difference(found.forces, flat(expected.at("forces"))) < kGoldenError);
      const std::vector<double> virial(found.virial.begin(), found.virial.end());
      CHECK(largest_difference(virial, flat(expected.at("virial"))) < 10 * kGoldenError);
      // The peer's values are good to float32.
      CHECK(largest_difference(found.node_virial, flat(golden.tree.at("atomic_virial"))) < 2e-6);
    }
  }
}

TEST_CASE("both dampings are the published formulas")
{
  const PeriodicSystem system = organic_system(5);
  for (const char *damping : {"bj", "zero"}) {
    const ModelSpec model = organic(damping, 0.0);
    INFO(damping);
    CHECK(std::abs(run_native(model, system, system).energy / plain_energy(model, system) - 1.0) <
          kRoundOff);
  }
}

TEST_CASE("DFT-D3 is the same on 1 to 27 ranks with ghosts no further than the cutoff")
{
  Cell cluster = orthogonal_cell(11, 11, 11);
  cluster.periodic = {false, false, false};
  for (const char *damping : {"bj", "zero"}) {
    INFO(damping);
    check_decompositions(organic(damping, 1.0),
                         {{40, tilted_cell(9, 8, 10, 0.3)},
                          {300, orthogonal_cell(16, 15, 17)},
                          {5, orthogonal_cell(2.9, 3.1, 4.0)},
                          {1, tilted_cell(2.6, 2.4, 2.5, 0.4)},
                          {25, cluster}},
                         1.1, {2, 3, 8, 27}, kRoundOff);
  }
}

TEST_CASE("diamond on two ranks with cutoff 5 and no skin is diamond on one")
{
  // Forces of a shell without exchanged coordination numbers are off by a quarter here.
  constexpr double kLattice = 3.567;
  const double basis[8][3] = {{0, 0, 0},          {0, 0.5, 0.5},      {0.5, 0, 0.5},
                              {0.5, 0.5, 0},      {0.25, 0.25, 0.25}, {0.25, 0.75, 0.75},
                              {0.75, 0.25, 0.75}, {0.75, 0.75, 0.25}};
  std::mt19937_64 random(2);
  std::normal_distribution<double> off(0.0, 0.05);
  PeriodicSystem system;
  system.cell = orthogonal_cell(6 * kLattice, 2 * kLattice, 2 * kLattice);
  NativeRun run;
  run.ranks = 2;
  run.skin = 0.0;
  for (int a = 0; a < 6; ++a)
    for (int b = 0; b < 2; ++b)
      for (int c = 0; c < 2; ++c)
        for (const auto &site : basis) {
          const double cell[3] = {static_cast<double>(a), static_cast<double>(b),
                                  static_cast<double>(c)};
          for (int d = 0; d < 3; ++d)
            system.positions.push_back(kLattice * (cell[d] + site[d]) + off(random));
          system.types.push_back(0);
          run.owners.push_back(a < 3 ? 0 : 1);
        }
  const ModelSpec model = d3_model({{"functional", "pbe"}, {"damping", "bj"}}, 5.0, {"C"});
  NativeRun alone;
  alone.skin = 0.0;
  const NativeResult one = run_native(model, system, system, alone);
  check_same(run_native(model, system, system, run), one, kRoundOff);
  CHECK(*std::max_element(one.forces.begin(), one.forces.end()) > 1e-3);
}

TEST_CASE("DFT-D3 forces and virial are the energy's derivatives")
{
  for (const char *damping : {"bj", "zero"}) {
    INFO(damping);
    check_derivatives(organic(damping, 2.0), organic_system(7), kFormulaError);
    PeriodicSystem cluster = organic_system(8);
    cluster.cell.periodic = {false, false, false};
    check_derivatives(organic(damping, 0.0, 30.0), cluster, kFormulaError);
  }
}

TEST_CASE("with switches on no energy jumps at a cutoff")
{
  const auto at = [](double r, double switch_width) {
    PeriodicSystem pair;
    pair.cell = orthogonal_cell(40, 40, 40);
    pair.types = {0, 0, 0};
    pair.positions = {5, 5, 5, 5 + r, 5, 5, 5, 6.4, 5};
    return run_native(organic("bj", switch_width, 8.0), pair, pair).energy;
  };
  const double jump = std::abs(at(7.7, 0.0) - at(8.1, 0.0));
  CHECK(jump > 1e-4);
  constexpr double kJustInside = 8.0 - 1e-4, kJustOutside = 8.0 + 1e-4;
  CHECK(std::abs(at(kJustInside, 0.0) - at(kJustOutside, 0.0)) > 1e-5);
  CHECK(std::abs(at(kJustInside, 2.0) - at(kJustOutside, 2.0)) < 1e-11);
}

TEST_CASE("neighbours may be counted within a distance of their own")
{
  const PeriodicSystem system = organic_system(9);
  ModelSpec model = organic("bj", 0.0);
  const double all = run_native(model, system, system).energy;
  model.parameters["cn_cutoff"] = 1.3;    // fewer neighbours count
  CHECK(std::abs(run_native(model, system, system).energy - all) > 1e-3);
  // Further than the cutoff: distant neighbours still count a thousandth and less.
  model.parameters["cn_cutoff"] = 7.0;
  const NativeResult far = run_native(model, system, system);
  CHECK(far.energy != all);
  CHECK(std::abs(far.energy - all) < 1e-3);
  NativeRun run;
  run.ranks = 3;
  std::mt19937_64 random(1);
  run.owners = random_owners(random, system.size(), 3);
  check_same(run_native(model, system, system, run), far, kRoundOff);
}

TEST_CASE("a crowded atom, far from every reference, takes the nearest one")
{
  // A face-centred crystal of hydrogen, squeezed: coordination numbers above 12, where the weights
  // themselves underflow.
  PeriodicSystem system;
  system.cell.vectors = {0, 0.6, 0.6, 0.6, 0, 0.6, 0.6, 0.6, 0};
  system.positions = {0, 0, 0};
  system.types = {1};
  const ModelSpec model = organic("bj", 0.0, 2.0);
  const double expected = plain_energy(model, system);
  CHECK(expected < -0.05);
  for (const bool lanes : {false, true}) {
    NativeRun run;
    run.lanes = lanes;
    CHECK(std::abs(run_native(model, system, system, run).energy / expected - 1.0) < kRoundOff);
  }
}
