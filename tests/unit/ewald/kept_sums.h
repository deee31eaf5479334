// Where a lattice sum adds what it finds, for tests that call one directly.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "potentials/coulomb/sums.h"

namespace mlip_dd::test {

struct KeptSums {
  explicit KeptSums(std::size_t n, bool wants_node_virial = false)
      : potential(n), forces(3 * n), node_virial(9 * n)
  {
    sums.potential = potential;
    sums.forces = forces;
    sums.node_virial = node_virial;
    sums.wants_node_virial = wants_node_virial;
    sums.virial = &virial;
  }
  KeptSums(const KeptSums &) = delete;
  std::vector<double> potential, forces, node_virial;    // [n], [n, 3], [n, 9]
  std::array<double, 9> virial{};
  CoulombSums sums;
};

}    // namespace mlip_dd::test
