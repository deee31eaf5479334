// If these fail, the Ewald sum depends on the number of ranks, on which rank owns which atom, or on
// ranks that own none.
#include "catch.h"
#include "ewald/charged_system.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

// The same terms in another order: relative to an energy of a hundred eV, and forces of some eV/A.
constexpr double kEnergy = 1e-12;
constexpr double kForce = 1e-10;

void check_ranks(const ModelSpec &model, const PeriodicSystem &system, int ranks, unsigned seed,
                 const std::vector<int> &empty)
{
  std::mt19937_64 random(seed);
  PeriodicSystem moved = system;    // after the graph was built
  std::uniform_real_distribution<double> shift(-0.1, 0.1);
  for (double &x : moved.positions) x += shift(random);
  const auto expected =
      evaluate_steps(model, system, {system, moved}, 1, std::vector<int>(system.types.size(), 0));
  const Way way = GENERATE(Way{}, Way{true, true});
  CAPTURE(way.lanes);
  const auto found = evaluate_steps(model, system, {system, moved}, ranks,
                                    random_owners(random, system.size(), ranks, empty), 1, way);
  for (std::size_t s = 0; s < found.size(); ++s) {
    CAPTURE(ranks, s);
    CHECK(root_mean_square(expected[s].forces) > 0.1);
    CHECK(found[s].energy == Approx(expected[s].energy).epsilon(kEnergy));
    CHECK(largest_difference(found[s].forces, expected[s].forces) < kForce);
    CHECK(largest_difference(found[s].node_energy, expected[s].node_energy) < kForce);
    CHECK(largest_difference(found[s].node_virial, expected[s].node_virial) < kForce);
    CHECK(largest_difference(found[s].charge_gradient, expected[s].charge_gradient) < kForce);
    for (std::size_t c = 0; c < 9; ++c) {
      CHECK(std::abs(found[s].virial[c] - expected[s].virial[c]) < kForce);
      double total = 0.0;
      for (std::size_t i = 0; i < system.types.size(); ++i)
        total += found[s].node_virial[9 * i + c];
      CHECK(std::abs(total - found[s].virial[c]) < kForce);
    }
  }
}

}    // namespace

TEST_CASE("any ranks and owners")
{
  const int ranks = GENERATE(2, 3, 8, 27);
  const ModelSpec model = charged_model("ewald", 5.0, {{"accuracy", 1e-6}});
  check_ranks(model, random_charges(1, 40, tilted_cell(10.0, 11.0, 9.0, 0.2), 0.02), ranks, 11,
              ranks > 2 ? std::vector<int>{0, ranks - 1} : std::vector<int>{0});
}

TEST_CASE("a box smaller than the cutoff, more ranks than atoms")
{
  const ModelSpec model = charged_model("ewald", 6.0, {{"accuracy", 1e-6}});
  check_ranks(model, random_charges(2, 4, orthogonal_cell(4.0, 4.5, 4.2)), 8, 12, {});
}

TEST_CASE("a slab on several ranks")
{
  Cell cell = orthogonal_cell(9.0, 8.0, 10.0);
  cell.periodic[GENERATE(0, 1, 2)] = false;
  const ModelSpec model = charged_model("ewald", 5.0, {{"accuracy", 1e-6}, {"slab", 3.0}});
  check_ranks(model, random_charges(3, 24, cell, 0.02), 4, 13, {1});
}
