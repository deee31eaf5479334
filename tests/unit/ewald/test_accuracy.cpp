// If these fail, the accuracy that a user states is not what the sum has, or energies jump when the
// box changes.
#include "catch.h"
#include "ewald/charged_system.h"
#include "potentials/coulomb/accuracy.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kConstant = 14.399645;
constexpr double kExact = 1e-12;

double force_error(const ChargedResult &a, const ChargedResult &b)
{
  std::vector<double> difference = a.forces;
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= b.forces[i];
  return std::sqrt(3.0) * root_mean_square(difference);    // per atom, not per component
}

}    // namespace

TEST_CASE("forces are as good as the accuracy says, and not much better")
{
  const double accuracy = GENERATE(1e-3, 1e-5, 1e-7);
  const double net = GENERATE(0.0, 0.1);
  CAPTURE(accuracy, net);
  const PeriodicSystem system = random_charges(4, 200, tilted_cell(14.0, 15.0, 13.0, 0.2), net);
  const ChargedResult exact =
      evaluate_one(charged_model("ewald", 9.0, {{"accuracy", kExact}}), system);
  const ChargedResult found =
      evaluate_one(charged_model("ewald", 6.0, {{"accuracy", accuracy}}), system);
  const double error = force_error(found, exact) / kConstant;
  // The estimate is for positions without correlation; those of a liquid differ by a factor.
  CHECK(error < accuracy);
  CHECK(error > 0.02 * accuracy);
}

TEST_CASE("alpha varied by 20 per cent changes nothing above the accuracy")
{
  constexpr double kAccuracy = 1e-6;
  const PeriodicSystem system = random_charges(4, 100, orthogonal_cell(11.0, 12.0, 11.5), 0.05);
  const auto at = [&](double alpha, double cutoff) {
    return evaluate_one(charged_model("ewald", cutoff, {{"accuracy", kAccuracy}, {"alpha", alpha}}),
                        system);
  };
  const ChargedResult middle = at(0.45, 9.0);
  for (const double factor : {0.8, 1.2}) {
    // The cutoff keeps alpha * cutoff, the wave vectors follow from the accuracy.
    const ChargedResult other = at(0.45 * factor, 9.0 / factor);
    CHECK(force_error(middle, other) / kConstant < 2.0 * kAccuracy);
    CHECK(std::abs(middle.energy - other.energy) <
          kConstant * kAccuracy * static_cast<double>(system.size()));
  }
}

TEST_CASE("the energy follows a changing box without jumps")
{
  constexpr double kAccuracy = 1e-6;
  const PeriodicSystem system = random_charges(6, 100, orthogonal_cell(11.0, 12.0, 11.5));
  const ModelSpec model = charged_model("ewald", 6.0, {{"accuracy", kAccuracy}});
  const ModelSpec exact = charged_model("ewald", 6.0, {{"accuracy", kExact}});
  std::vector<PeriodicSystem> steps;
  for (int s = -20; s <= 20; ++s) {
    const double e = 0.005 * s;    // up to 10 % along each axis: wave vectors are chosen anew
    steps.push_back(strained(system, {e, 0.3 * e, 0, 0, -0.5 * e, 0, 0, 0, e}));
  }
  // Candidates from the densest cell hold all pairs that come within the cutoff later.
  const std::vector<int> owners(system.types.size(), 0);
  const auto found = evaluate_steps(model, steps.front(), steps, 1, owners);
  const auto expected = evaluate_steps(exact, steps.front(), steps, 1, owners);
  CHECK(found.front().description != found.back().description);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    CAPTURE(s);
    CHECK(std::abs(found[s].energy - expected[s].energy) <
          kConstant * kAccuracy * static_cast<double>(system.size()));
    CHECK(force_error(found[s], expected[s]) < kConstant * kAccuracy);
  }
}

TEST_CASE("alpha and cutoffs follow the accuracy")
{
  const ChargeTotals totals{0.0, 64.0, 64.0};
  constexpr double kVolume = 1400.0;
  double before_alpha = 0.0, before_k = 0.0;
  for (const double accuracy : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
    const double alpha = choose_alpha(totals, kVolume, 9.0, accuracy);
    const double k = choose_k_cutoff(totals, kVolume, alpha, accuracy);
    CHECK(real_space_error(totals, kVolume, alpha, 9.0) <= 0.5 * share_of(accuracy));
    CHECK(wave_vector_error(totals, kVolume, alpha, k) <= share_of(accuracy));
    CHECK(wave_vector_error(totals, kVolume, alpha, 0.99 * k) > share_of(accuracy));
    CHECK(alpha > before_alpha);
    CHECK(k > before_k);
    // Within one step of the grid of alpha, the box does not matter.
    CHECK(choose_alpha(totals, 1.0001 * kVolume, 9.0, accuracy) == alpha);
    before_alpha = alpha;
    before_k = k;
  }
  CHECK(default_cutoff(1e-5) == Approx(9.0));
  CHECK(default_cutoff(1e-8) > default_cutoff(1e-6));
}
