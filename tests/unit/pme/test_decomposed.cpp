// If these fail, PME depends on the number of ranks, on which rank owns which atom, on ranks
// without atoms or without a part of the mesh, on how the mesh is shared, or on threads.
#include "catch.h"
#include "ewald/charged_system.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

// The same terms in another order: relative to an energy of a hundred eV, and forces of some eV/A.
constexpr double kEnergy = 1e-12;
constexpr double kForce = 1e-10;

void check_same(const ChargedResult &found, const ChargedResult &expected)
{
  CHECK(root_mean_square(expected.forces) > 0.1);
  CHECK(found.energy == Approx(expected.energy).epsilon(kEnergy));
  CHECK(largest_difference(found.forces, expected.forces) < kForce);
  CHECK(largest_difference(found.node_energy, expected.node_energy) < kForce);
  CHECK(largest_difference(found.node_virial, expected.node_virial) < kForce);
  CHECK(largest_difference(found.charge_gradient, expected.charge_gradient) < kForce);
  for (std::size_t c = 0; c < 9; ++c) {
    CHECK(std::abs(found.virial[c] - expected.virial[c]) < kForce);
    double total = 0.0;
    for (std::size_t i = c; i < found.node_virial.size(); i += 9) total += found.node_virial[i];
    CHECK(std::abs(total - found.virial[c]) < kForce);
  }
}

// Owners by slices along x: a small patch each, unlike random owners.
std::vector<int> sliced_owners(const PeriodicSystem &system, int ranks)
{
  std::vector<int> owners;
  for (std::size_t i = 0; i < system.types.size(); ++i) {
    const double x = system.positions[3 * i] / system.cell.vectors[0];
    owners.push_back(static_cast<int>((x - std::floor(x)) * ranks) % ranks);
  }
  return owners;
}

void check_ranks(const nlohmann::json &parameters, const PeriodicSystem &system, int ranks,
                 const std::vector<int> &owners)
{
  const ModelSpec model = charged_model("pme", 5.0, parameters);
  std::mt19937_64 random(8);
  // Moved by little, then far beyond the mesh patches of the start; then the cell changes.
  std::vector<PeriodicSystem> steps{system, system, system, system};
  std::uniform_real_distribution<double> shift(-0.1, 0.1);
  for (double &x : steps[1].positions) x += shift(random);
  for (std::size_t c = 0; c < steps[2].positions.size(); ++c)
    steps[2].positions[c] += c % 3 == 0 ? 4.0 : -1.0;
  steps[3] = strained(system, {0.03, 0.01, 0, 0, -0.02, 0, 0, 0.02, 0.04});
  const auto expected =
      evaluate_steps(model, system, steps, 1, std::vector<int>(system.types.size(), 0));
  const Way way = GENERATE(Way{}, Way{true, true});
  CAPTURE(way.lanes);
  const auto found = evaluate_steps(model, system, steps, ranks, owners, 1, way);
  for (std::size_t s = 0; s < found.size(); ++s) {
    CAPTURE(ranks, s);
    check_same(found[s], expected[s]);
  }
}

}    // namespace

TEST_CASE("PME on any ranks and owners")
{
  const int ranks = GENERATE(2, 3, 8, 27);
  const std::string sharing = GENERATE("replicated", "distributed");
  CAPTURE(sharing);
  const PeriodicSystem system = random_charges(1, 40, tilted_cell(10.0, 11.0, 9.0, 0.2), 0.02);
  std::mt19937_64 random(11);
  const std::vector<int> empty = ranks > 2 ? std::vector<int>{0, ranks - 1} : std::vector<int>{0};
  const nlohmann::json parameters{{"accuracy", 1e-5}, {"fft", sharing}};
  SECTION("at random")
  {
    check_ranks(parameters, system, ranks, random_owners(random, 40, ranks, empty));
  }
  SECTION("in slices") { check_ranks(parameters, system, ranks, sliced_owners(system, ranks)); }
}

TEST_CASE("PME on more ranks than mesh planes")
{
  const PeriodicSystem system = random_charges(2, 12, orthogonal_cell(6.0, 6.5, 6.2));
  std::mt19937_64 random(12);
  check_ranks({{"accuracy", 1e-3}, {"order", 4}, {"mesh", {6, 7, 5}}, {"fft", "distributed"}},
              system, 24, random_owners(random, 12, 24));
}

TEST_CASE("PME of a slab on several ranks")
{
  Cell cell = orthogonal_cell(9.0, 8.0, 10.0);
  cell.periodic[2] = false;
  const PeriodicSystem system = random_charges(3, 24, cell, 0.02);
  check_ranks({{"accuracy", 1e-5}, {"slab", 3.0}}, system, 4, sliced_owners(system, 4));
}

TEST_CASE("lattice sums by several threads")
{
  // More than a thread's share of everything: rows, bands of the mesh, parts of its transform.
  const std::int64_t count = 700;
  const PeriodicSystem system = random_charges(4, count, tilted_cell(20.0, 19.0, 21.0, 0.1), 0.02);
  const ModelSpec model = GENERATE(
      charged_model("pme", 5.0, {{"accuracy", 1e-4}, {"order", 8}, {"mesh", {80, 70, 81}}}),
      charged_model("ewald", 5.0, {{"accuracy", 1e-4}}));
  CAPTURE(model.potential);
  const std::vector<int> owners(static_cast<std::size_t>(count), 0);
  const ChargedResult expected = evaluate_steps(model, system, {system}, 1, owners).front();
  for (const int threads : {2, 5})
    check_same(evaluate_steps(model, system, {system}, 1, owners, threads).front(), expected);
}
