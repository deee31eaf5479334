#include "potentials/coulomb/accuracy.h"

#include <algorithm>
#include <cmath>

#include "base/constants.h"

namespace mlip_dd {

namespace {

// Without charges any parameters do; these keep the formulas finite.
double mean_charge_squared(const ChargeTotals &totals)
{
  constexpr double kLeast = 1e-12;
  return std::max(totals.charge_squared / std::max(totals.atoms, 1.0), kLeast);
}

double count(const ChargeTotals &totals) { return std::max(totals.atoms, 1.0); }

}    // namespace

double real_space_error(const ChargeTotals &totals, double volume, double alpha, double cutoff)
{
  const double x = alpha * cutoff;
  return 2.0 * mean_charge_squared(totals) * std::sqrt(count(totals) / (cutoff * volume)) *
         std::exp(-x * x);
}

double wave_vector_error(const ChargeTotals &totals, double volume, double alpha, double k_cutoff)
{
  const double integral =
      alpha * std::sqrt(0.5 * kPi) * std::erfc(k_cutoff / (std::sqrt(2.0) * alpha));
  return mean_charge_squared(totals) * std::sqrt(count(totals) * 8.0 / volume * integral);
}

double share_of(double accuracy) { return accuracy / std::sqrt(2.0); }

double default_cutoff(double accuracy)
{
  constexpr double kCutoff = 9.0, kAccuracy = 1e-5;
  return std::round(10.0 * kCutoff * std::sqrt(std::log(accuracy) / std::log(kAccuracy))) / 10.0;
}

double choose_alpha(const ChargeTotals &totals, double volume, double cutoff, double accuracy)
{
  constexpr double kStep = 0.05;       // of alpha * cutoff
  constexpr double kSmallest = 1.5;    // below, the background and slab terms lose their meaning
  constexpr double kSafety = 2.0;
  const double prefactor = kSafety * real_space_error(totals, volume, 0.0, cutoff);
  const double exponent = std::log(std::max(prefactor / share_of(accuracy), 1.0));
  const double x = std::max(std::sqrt(exponent), kSmallest);
  return kStep * std::ceil(x / kStep) / cutoff;
}

double choose_k_cutoff(const ChargeTotals &totals, double volume, double alpha, double accuracy)
{
  double low = 0.0, high = alpha;
  while (wave_vector_error(totals, volume, alpha, high) > share_of(accuracy) && high < 50.0 * alpha)
    high *= 2.0;
  constexpr int kHalvings = 40;
  for (int k = 0; k < kHalvings; ++k) {
    const double middle = 0.5 * (low + high);
    (wave_vector_error(totals, volume, alpha, middle) > share_of(accuracy) ? low : high) = middle;
  }
  return high;
}

}    // namespace mlip_dd
