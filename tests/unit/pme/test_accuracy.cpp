// If these fail, the accuracy that a user states is not what PME has, or energies jump when the box
// changes and the mesh with it.
#include "catch.h"
#include "ewald/charged_system.h"
#include "potentials/pme/mesh_size.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kConstant = 14.399645;

double force_error(const ChargedResult &a, const ChargedResult &b)
{
  std::vector<double> difference = a.forces;
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= b.forces[i];
  return std::sqrt(3.0) * root_mean_square(difference);    // per atom, not per component
}

ChargedResult exact(const PeriodicSystem &system)
{
  return evaluate_one(charged_model("ewald", 9.0, {{"accuracy", 1e-12}}), system);
}

}    // namespace

TEST_CASE("forces of PME are as good as the accuracy says, and not much better")
{
  const double net = GENERATE(0.0, 0.1);
  const PeriodicSystem system = random_charges(4, 200, tilted_cell(14.0, 15.0, 13.0, 0.2), net);
  const ChargedResult converged = exact(system);
  for (const double accuracy : {1e-3, 1e-4, 1e-6, 1e-8})
    for (int order = 4; order <= 8; ++order) {
      // These would take meshes of some 200 points per axis.
      if ((order == 4 && accuracy < 1e-4) || (order == 5 && accuracy < 1e-6)) continue;
      const ChargedResult found = evaluate_one(
          charged_model("pme", 6.0, {{"accuracy", accuracy}, {"order", order}}), system);
      const double error = force_error(found, converged) / kConstant;
      CAPTURE(net, accuracy, order, error, found.description);
      CHECK(error < accuracy);
      CHECK(error > 0.02 * accuracy);
    }
}

TEST_CASE("the estimated mesh error is the measured one")
{
  // Real space and the waves left out are converged: only the mesh errs.
  const PeriodicSystem system = random_charges(4, 200, tilted_cell(14.0, 15.0, 13.0, 0.2));
  const ChargedResult converged = exact(system);
  const double square = static_cast<double>(system.size());
  const ChargeTotals totals{0.0, square, square};
  constexpr double kAlpha = 0.35, kCutoff = 14.0;
  for (const int order : {4, 5, 6, 8})
    for (const int size : {18, 24, 36}) {
      const MeshSize mesh{size, size, size};
      const ChargedResult found = evaluate_one(
          charged_model("pme", kCutoff,
                        {{"alpha", kAlpha}, {"order", order}, {"mesh", {size, size, size}}}),
          system);
      const double measured = force_error(found, converged) / kConstant;
      const double estimated = mesh_error(make_lattice(system.cell), totals, kAlpha, mesh, order);
      CAPTURE(order, size, measured, estimated);
      CHECK(measured < 1.5 * estimated);
      CHECK(measured > 0.5 * estimated);
    }
}

TEST_CASE("the energy of PME follows a changing box without jumps")
{
  constexpr double kAccuracy = 1e-6;
  const PeriodicSystem system = random_charges(6, 100, orthogonal_cell(11.0, 12.0, 11.5));
  const ModelSpec model = charged_model("pme", 6.0, {{"accuracy", kAccuracy}});
  const ModelSpec converged = charged_model("ewald", 6.0, {{"accuracy", 1e-12}});
  std::vector<PeriodicSystem> steps;
  for (int s = -20; s <= 20; ++s) {
    const double e = 0.005 * s;
    steps.push_back(strained(system, {e, 0.3 * e, 0, 0, -0.5 * e, 0, 0, 0, e}));
  }
  // Candidates from the densest cell hold all pairs that come within the cutoff later.
  const std::vector<int> owners(system.types.size(), 0);
  const auto found = evaluate_steps(model, steps.front(), steps, 1, owners);
  const auto expected = evaluate_steps(converged, steps.front(), steps, 1, owners);
  CHECK(found.front().description != found.back().description);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    CAPTURE(s);
    CHECK(std::abs(found[s].energy - expected[s].energy) <
          kConstant * kAccuracy * static_cast<double>(system.size()));
    CHECK(force_error(found[s], expected[s]) < kConstant * kAccuracy);
  }
}

TEST_CASE("alpha varied by 20 per cent changes nothing above the accuracy of PME")
{
  constexpr double kAccuracy = 1e-6;
  const PeriodicSystem system = random_charges(4, 100, orthogonal_cell(11.0, 12.0, 11.5), 0.05);
  const auto at = [&](double alpha, double cutoff) {
    return evaluate_one(charged_model("pme", cutoff, {{"accuracy", kAccuracy}, {"alpha", alpha}}),
                        system);
  };
  const ChargedResult middle = at(0.45, 9.0);
  for (const double factor : {0.8, 1.2}) {
    const ChargedResult other = at(0.45 * factor, 9.0 / factor);
    CHECK(force_error(middle, other) / kConstant < 2.0 * kAccuracy);
    CHECK(std::abs(middle.energy - other.energy) <
          kConstant * kAccuracy * static_cast<double>(system.size()));
  }
}

TEST_CASE("smooth sizes")
{
  CHECK(smooth_size(1) == 1);
  CHECK(smooth_size(11) == 12);
  CHECK(smooth_size(13) == 14);
  CHECK(smooth_size(121) == 125);
  CHECK(smooth_size(211) == 216);
}
