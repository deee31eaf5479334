#include "potentials/ewald/wave_plan.h"

#include <cmath>
#include <sstream>

#include "base/constants.h"
#include "potentials/coulomb/reciprocal_sum.h"

namespace mlip_dd {

namespace {

// Of the vectors outside a box of indices, for the error estimate.
double shortest_left_out(const Lattice &lattice, const std::array<int, 3> &largest)
{
  // Planes of index h are 2 pi / |a| apart.
  double shortest = 0.0;
  for (std::size_t a = 0; a < 3; ++a) {
    const Vector3 &v = lattice.vectors[a];
    const double distance =
        2.0 * kPi * (largest[a] + 1) / std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    shortest = a == 0 ? distance : std::min(shortest, distance);
  }
  return shortest;
}

}    // namespace

WavePlan plan_waves(const EwaldParameters &parameters, double accuracy, const Lattice &lattice,
                    const ChargeTotals &totals, double alpha)
{
  if (parameters.k_largest)
    return {waves_in_box(*parameters.k_largest), shortest_left_out(lattice, *parameters.k_largest)};
  const double k_cutoff =
      parameters.k_cutoff.value_or(choose_k_cutoff(totals, lattice.volume, alpha, accuracy) *
                                   (1.0 + ReciprocalSum::kPlannedChange));
  return {waves_in_sphere(lattice, k_cutoff), k_cutoff};
}

std::string describe(const WavePlan &plan)
{
  std::ostringstream text;
  text << plan.waves.count << " wave vectors up to " << plan.k_cutoff
       << " / A; each evaluation sums " << 16 * plan.waves.count
       << " bytes over all ranks, whatever their number";
  return text.str();
}

}    // namespace mlip_dd
