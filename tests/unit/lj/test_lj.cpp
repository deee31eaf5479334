// If these fail, Lennard-Jones atoms attract and repel by other numbers than they should, or by
// other numbers on many ranks than on one.
#include <cmath>
#include <random>

#include "catch.h"
#include "pair/native_run.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kRoundOff = 1e-12;       // float64 sums of some thousand terms, relative
constexpr double kGoldenError = 1e-12;    // eV, eV/Angstrom: the golden files' own agreement
constexpr double kFormulaError = 1e-7;    // of fourth-order differences with steps of 1e-3 A

ModelSpec lj_model(const nlohmann::json &parameters, double cutoff,
                   std::vector<std::string> elements)
{
  ModelSpec model;
  model.potential = "lj";
  model.cutoff = cutoff;
  model.elements = std::move(elements);
  model.parameters = parameters;
  return model;
}

ModelSpec two_elements(nlohmann::json more = nlohmann::json::object())
{
  nlohmann::json parameters{{"epsilon", {{0.010, 0.013}, {0.013, 0.020}}},
                            {"sigma", {{2.6, 2.3}, {2.3, 1.9}}}};
  parameters.update(more);
  return lj_model(parameters, 5.0, {"Ar", "Ne"});
}

// The same sum written down the plain way.
double plain_energy(const ModelSpec &model, const PeriodicSystem &system,
                    const std::vector<double> &cutoffs, bool shifted)
{
  const auto &h = system.cell.vectors;
  const int reach = 4;
  const auto u = [](double epsilon, double sigma, double r) {
    const double p = std::pow(sigma / r, 6);
    return 4.0 * epsilon * (p * p - p);
  };
  double total = 0.0;
  for (std::size_t i = 0; i < system.types.size(); ++i)
    for (std::size_t j = 0; j < system.types.size(); ++j)
      for (int a = -reach; a <= reach; ++a)
        for (int b = -reach; b <= reach; ++b)
          for (int c = -reach; c <= reach; ++c) {
            if (i == j && a == 0 && b == 0 && c == 0) continue;
            double squared = 0.0;
            for (std::size_t d = 0; d < 3; ++d) {
              const double x = system.positions[3 * j + d] - system.positions[3 * i + d] +
                               a * h[d] + b * h[3 + d] + c * h[6 + d];
              squared += x * x;
            }
            const auto ti = static_cast<std::size_t>(system.types[i]);
            const auto tj = static_cast<std::size_t>(system.types[j]);
            const double r = std::sqrt(squared), cutoff = cutoffs[2 * ti + tj];
            const double epsilon = model.parameters["epsilon"][ti][tj];
            const double sigma = model.parameters["sigma"][ti][tj];
            if (r < cutoff)
              total += 0.5 * (u(epsilon, sigma, r) - (shifted ? u(epsilon, sigma, cutoff) : 0.0));
          }
  return total;
}

}    // namespace

TEST_CASE("the golden argon systems come out on 1 and 4 ranks")
{
  std::mt19937_64 random(3);
  for (const std::string name :
       {"lj_argon108_rc7.json", "lj_argon108_rc7_half.json", "lj_argon108_rc7_switch1.json",
        "lj_argon108_rc8p5_multiimage.json", "lj_argon108_triclinic_rc7_switch1.json"}) {
    const Golden golden = read_golden(name);
    const nlohmann::json &given = golden.tree.at("params");
    const ModelSpec model = lj_model({{"epsilon", given.at("epsilon")},
                                      {"sigma", given.at("sigma")},
                                      {"switch_width", given.at("switch_width")}},
                                     given.at("cutoff"), golden.elements);
    for (const auto &[ranks, lanes] : {std::pair{1, false}, {4, false}, {1, true}, {4, true}}) {
      INFO(name << " on " << ranks << " ranks" << (lanes ? ", by lanes" : ""));
      NativeRun run;
      run.ranks = ranks;
      run.lanes = lanes;
      run.owners = random_owners(random, golden.system.size(), ranks);
      const NativeResult found = run_native(model, golden.system, golden.system, run);
      CHECK(std::abs(found.energy - golden.tree.at("energy").get<double>()) < kGoldenError);
      CHECK(largest_difference(found.node_energy, flat(golden.tree.at("atomic_energies"))) <
            kGoldenError);
      CHECK(largest_difference(found.forces, flat(golden.tree.at("forces"))) < kGoldenError);
      const std::vector<double> virial(found.virial.begin(), found.virial.end());
      CHECK(largest_difference(virial, flat(golden.tree.at("virial"))) < 10 * kGoldenError);
      // The half list's own virials per atom go to one end of each pair; ours always go to both.
      if (!given.at("half_list").get<bool>())
        CHECK(largest_difference(found.node_virial, flat(golden.tree.at("atomic_virial"))) <
              kGoldenError);
    }
  }
}

TEST_CASE("unlike pairs have their own depth, size, cutoff and shift")
{
  std::mt19937_64 random(5);
  const PeriodicSystem system = random_system(random, 20, tilted_cell(8, 7, 9, 0.2), 2, 1.9);
  const ModelSpec same = two_elements();
  const ModelSpec own = two_elements({{"cutoffs", {{4.0, 5.0}, {5.0, 3.0}}}, {"shift", true}});
  CHECK(std::abs(run_native(same, system, system).energy /
                     plain_energy(same, system, {5.0, 5.0, 5.0, 5.0}, false) -
                 1.0) < kRoundOff);
  CHECK(std::abs(run_native(own, system, system).energy /
                     plain_energy(own, system, {4.0, 5.0, 5.0, 3.0}, true) -
                 1.0) < kRoundOff);
}

TEST_CASE("Lennard-Jones is the same on 1 to 27 ranks, with any owners and threads")
{
  Cell cluster = orthogonal_cell(14, 14, 14);
  cluster.periodic = {false, false, false};
  for (const ModelSpec &model : {two_elements(), two_elements({{"switch_width", 1.5}})})
    check_decompositions(model,
                         {{600, tilted_cell(22, 20, 24, 0.3)},
                          {5, orthogonal_cell(4.4, 4.1, 4.8)},
                          {1, tilted_cell(2.6, 2.4, 2.5, 0.4)},
                          {30, cluster}},
                         1.8, {2, 3, 8, 27}, kRoundOff);
}

TEST_CASE("Lennard-Jones forces and virial are the energy's derivatives")
{
  std::mt19937_64 random(7);
  const PeriodicSystem system = random_system(random, 24, tilted_cell(7, 8, 7.5, 0.25), 2, 2.0);
  // A hard cutoff has energy jumps, which differences see; shifted and switched ones have not.
  check_derivatives(two_elements({{"switch_width", 1.5}}), system, kFormulaError);
  // Nothing crosses this cutoff: the atoms of a cluster are all within it.
  PeriodicSystem cluster = system;
  cluster.cell.periodic = {false, false, false};
  ModelSpec wide = two_elements();
  wide.cutoff = 30.0;
  check_derivatives(wide, cluster, kFormulaError);
}

TEST_CASE("a switched potential has no step at its cutoff")
{
  const ModelSpec model =
      lj_model({{"epsilon", 1.0}, {"sigma", 1.0}, {"switch_width", 0.5}}, 2.5, {"Ar"});
  PeriodicSystem pair;
  pair.cell = orthogonal_cell(20, 20, 20);
  pair.types = {0, 0};
  const auto at = [&](double r) {
    pair.positions = {5, 5, 5, 5 + r, 5, 5};
    return run_native(model, pair, pair);
  };
  CHECK(std::abs(at(1.9).energy) > 0.05);
  CHECK(std::abs(at(2.499).energy) < 1e-8);
  CHECK(std::abs(at(2.499).forces[0]) < 1e-5);
  CHECK(at(2.501).energy == 0.0);
}
