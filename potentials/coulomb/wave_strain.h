// How the energy of a wave of a lattice sum changes with the cell.
#pragma once

#include "potentials/pair/number.h"

namespace mlip_dd {

// Derivative of the energy by the strain is minus the energy times this tensor; `decay` is
// 1 / 4 alpha^2.
MLIP_DD_TERM double strain_factor(const double *k, double k_squared, double decay, int a, int b)
{
  return (a == b) - 2.0 * k[a] * k[b] * (1.0 / k_squared + decay);
}

}    // namespace mlip_dd
