// If these fail, charges are spread on the mesh with wrong weights, or corrected by wrong factors.
#include <cmath>
#include <complex>

#include "base/constants.h"
#include "catch.h"
#include "potentials/pme/splines.h"

using namespace mlip_dd;

namespace {

constexpr double kRounding = 1e-14;

// M_n(x) = 1/(n-1)! sum_j (-1)^j C(n, j) max(x - j, 0)^(n-1): another formula than the recursion.
double cardinal_spline(int n, double x)
{
  double sum = 0.0, binomial = 1.0, factorial = 1.0;
  for (int j = 0; j <= n; ++j) {
    if (x > j) sum += (j % 2 == 0 ? 1.0 : -1.0) * binomial * std::pow(x - j, n - 1);
    binomial *= static_cast<double>(n - j) / (j + 1);
  }
  for (int k = 2; k < n; ++k) factorial *= k;
  return sum / factorial;
}

template <int Order>
void check_weights()
{
  for (const double offset : {0.0, 0.2, 0.5, 0.77, 1.0 - 1e-12}) {
    double weights[Order], derivatives[Order];
    spline_weights<Order>(offset, weights, derivatives);
    double sum = 0.0, slope = 0.0;
    for (int j = 0; j < Order; ++j) {
      const double x = offset + Order - 1 - j;
      CAPTURE(Order, offset, j);
      // The alternating sum of large powers is good to some 1e-12 only.
      CHECK(weights[j] == Approx(cardinal_spline(Order, x)).margin(1e-11));
      CHECK(
          derivatives[j] ==
          Approx(cardinal_spline(Order - 1, x) - cardinal_spline(Order - 1, x - 1)).margin(1e-11));
      sum += weights[j];
      slope += derivatives[j];
    }
    CHECK(std::abs(sum - 1.0) < kRounding);
    CHECK(std::abs(slope) < kRounding);
  }
}

}    // namespace

TEST_CASE("spline weights of every order")
{
  check_weights<4>();
  check_weights<5>();
  check_weights<6>();
  check_weights<7>();
  check_weights<8>();
}

TEST_CASE("moduli follow from what the spline makes of each wave")
{
  // Directly: |sum_p M(u - p) exp(i k (p - u))|^2 averaged over u is sum_s w_s^2, and the average
  // of the sum itself is w_0.
  constexpr int kSize = 12, kPoints = 400;
  for (const int m : {0, 1, 3, 5, 6, 7, 11}) {
    const double k = 2.0 * kPi * m / kSize;
    std::complex<double> mean = 0.0;
    double square = 0.0;
    for (int i = 0; i < kPoints; ++i) {
      double weights[6], derivatives[6];
      const double offset = (i + 0.5) / kPoints;
      spline_weights<6>(offset, weights, derivatives);
      std::complex<double> sum = 0.0;
      for (int j = 0; j < 6; ++j)
        sum += weights[j] * std::exp(std::complex<double>(0.0, k * (j - 5 - offset)));
      mean += sum / static_cast<double>(kPoints);
      square += std::norm(sum) / kPoints;
    }
    CAPTURE(m);
    // Beyond K / 2 the wave itself is m - K: another average, the same moduli as for K - m.
    if (2 * m <= kSize)
      CHECK(spline_moduli(kSize, 6)[static_cast<std::size_t>(m)] ==
            Approx(std::norm(mean) / (square * square)).epsilon(1e-4));
    else
      CHECK(spline_moduli(kSize, 6)[static_cast<std::size_t>(m)] ==
            Approx(spline_moduli(kSize, 6)[static_cast<std::size_t>(kSize - m)]));
  }
}
