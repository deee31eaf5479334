// Where the parts of a Coulomb energy add their results, each for a rank's owned atoms.
#pragma once

#include <array>
#include <span>

namespace mlip_dd {

// The energy is half the sum over owned atoms of charge times potential: the electrostatic energy
// is quadratic in the charges, so the potential is also its derivative by the charge.
struct CoulombSums {
  std::span<double> potential;        // [n_owned], V
  std::span<double> forces;           // [n_owned, 3], eV/Angstrom
  std::span<double> node_virial;      // [n_owned, 9], eV; empty unless wanted
  bool wants_node_virial = false;     // the same on all ranks, also on those without atoms
  std::array<double, 9> *virial{};    // eV; this rank's part
};

}    // namespace mlip_dd
