// If these fail, the pair function of all lattice sums is off: real space and wave vectors no
// longer add up, or forces are not the derivative of the energy.
#include <cmath>

#include "base/constants.h"
#include "catch.h"
#include "potentials/coulomb/screened_table.h"

using namespace mlip_dd;

TEST_CASE("erfc(alpha r) / r and its derivative")
{
  const double alpha = GENERATE(0.2, 0.45, 1.9);
  constexpr double kCutoff = 9.0;
  const ScreenedTable table(alpha, kCutoff);
  std::vector<double> squared;
  for (double r = 0.05; r < kCutoff; r += 0.00731) squared.push_back(r * r);
  squared.push_back(kCutoff * kCutoff);
  std::vector<double> values(squared.size()), derivatives(squared.size());
  table.evaluate(squared, values, derivatives);
  // 1 / r is taken from a function of size alpha: rounding of both, whichever is larger.
  constexpr double kRounding = 5e-15, kSlopeRounding = 1e-13;
  for (std::size_t m = 0; m < squared.size(); ++m) {
    const double r = std::sqrt(squared[m]), x = alpha * r;
    const double value = std::erfc(x) / r;
    const double slope =
        -(std::erfc(x) / r + 2.0 * alpha / std::sqrt(kPi) * std::exp(-x * x)) / (r * r);
    CAPTURE(alpha, r);
    REQUIRE(std::abs(values[m] - value) < kRounding * (1.0 / r + alpha));
    REQUIRE(std::abs(derivatives[m] - slope) <
            kSlopeRounding * (1.0 / (r * r * r) + alpha * alpha * alpha));
  }
}

TEST_CASE("a table that would hold nothing is refused")
{
  REQUIRE_THROWS_WITH(ScreenedTable(5.0, 9.0), test::contains("alpha"));
}
