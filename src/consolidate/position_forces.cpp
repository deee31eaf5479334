#include "consolidate/position_forces.h"

#include <cstddef>

namespace mlip_dd {

namespace {

// sum -= vector (x) gradient over rows of three.
void subtract_moments(std::span<const double> vectors, std::span<const double> gradient,
                      std::span<double, 9> sum)
{
  for (std::size_t row = 0; row + 3 <= gradient.size(); row += 3)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) sum[3 * a + b] -= vectors[row + a] * gradient[row + b];
}

}    // namespace

void add_position_forces(std::span<const double> gradient, std::span<const double> positions,
                         std::span<double> forces, std::span<double, 9> virial)
{
  for (std::size_t k = 0; k < gradient.size(); ++k) forces[k] -= gradient[k];
  subtract_moments(positions, gradient, virial);
}

void add_cell_virial(std::span<const double> gradient, std::span<const double> cell,
                     std::span<double, 9> virial)
{
  subtract_moments(cell, gradient, virial);
}

}    // namespace mlip_dd
