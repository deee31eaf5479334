#include "potentials/coulomb/screened_table.h"

#include <array>
#include <cmath>
#include <string>

#include "base/constants.h"
#include "base/error.h"
#include "potentials/coulomb/screened_terms.h"
#include "potentials/pair/wide.h"

namespace mlip_dd {

namespace {

// Boys functions F_0 .. F_{kScreenedTerms - 1} at u: the highest by its series, the others
// downwards, which is stable.
std::array<double, kScreenedTerms> boys_functions(double u)
{
  std::array<double, kScreenedTerms> values{};
  constexpr int kHighest = kScreenedTerms - 1;
  double term = 1.0 / (2 * kHighest + 1), sum = term;
  for (int i = 1; term > 1e-18 * sum; ++i) {
    term *= 2.0 * u / (2 * (kHighest + i) + 1);
    sum += term;
  }
  const double decay = std::exp(-u);
  values[kHighest] = decay * sum;
  for (int m = kHighest; m > 0; --m)
    values[static_cast<std::size_t>(m - 1)] =
        (2.0 * u * values[static_cast<std::size_t>(m)] + decay) / (2 * m - 1);
  return values;
}

MLIP_DD_WIDE void evaluate_pairs(const double *table, double alpha_squared, std::int64_t n,
                                 const double *squared, double *values, double *derivatives)
{
  for (std::int64_t m = 0; m < n; ++m) {
    const ScreenedPair pair = screened_pair(table, alpha_squared, squared[m]);
    values[m] = pair.value;
    derivatives[m] = pair.derivative;
  }
}

}    // namespace

ScreenedTable::ScreenedTable(double alpha, double cutoff) : alpha_squared_(alpha * alpha)
{
  if (!(alpha * cutoff <= kLargestProduct))
    throw Error({"alpha times the cutoff is too large: no pair would count in real space",
                 std::to_string(alpha) + " / A times " + std::to_string(cutoff) + " A",
                 "/model/parameters/alpha", "Give a smaller alpha or cutoff"});
  const double farthest = alpha_squared_ * cutoff * cutoff;
  // One more than needed, for squares that round up to the cutoff's.
  const auto intervals = static_cast<std::size_t>(farthest / kScreenedWidth) + 2;
  coefficients_.resize(intervals * kScreenedTerms);
  for (std::size_t i = 0; i < intervals; ++i) {
    const auto boys = boys_functions((static_cast<double>(i) + 0.5) * kScreenedWidth);
    double factor = 2.0 * alpha / std::sqrt(kPi);
    for (int k = 0; k < kScreenedTerms; ++k) {
      coefficients_[i * kScreenedTerms + static_cast<std::size_t>(k)] =
          factor * boys[static_cast<std::size_t>(k)];
      factor *= -1.0 / (k + 1);
    }
  }
}

void ScreenedTable::evaluate(std::span<const double> squared_distances, std::span<double> values,
                             std::span<double> derivatives) const
{
  evaluate_pairs(coefficients_.data(), alpha_squared_,
                 static_cast<std::int64_t>(squared_distances.size()), squared_distances.data(),
                 values.data(), derivatives.data());
}

}    // namespace mlip_dd
