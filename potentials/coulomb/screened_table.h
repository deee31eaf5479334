// The long-range part erf(alpha r) / r of a pair as a table of polynomials in r^2, good to
// rounding. No torch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mlip_dd {

// erf(alpha r) / r is a smooth function of u = (alpha r)^2 down to r = 0, so that erfc(alpha r) / r
// = 1/r minus a polynomial needs no special functions and no shortest distance. Each interval holds
// the Taylor series about its middle, whose coefficients are Boys functions. Forces come from the
// derivative of the same polynomial: they are that of the energy to rounding.
class ScreenedTable {
 public:
  ScreenedTable() = default;
  // For distances up to `cutoff`. Throws Error where alpha * cutoff exceeds kLargestProduct.
  ScreenedTable(double alpha, double cutoff);

  // Squared distances (Angstrom^2) -> erfc(alpha r) / r, and the derivative of that by r over r.
  // All spans have one length.
  void evaluate(std::span<const double> squared_distances, std::span<double> values,
                std::span<double> derivatives) const;

  // For kernels that evaluate it themselves (screened_terms.h).
  double alpha_squared() const { return alpha_squared_; }
  const std::vector<double> &coefficients() const { return coefficients_; }

  static constexpr double kLargestProduct = 20.0;

 private:
  double alpha_squared_ = 0.0;
  std::vector<double> coefficients_;    // [intervals, kScreenedTerms]
};

}    // namespace mlip_dd
