// What the parts of a Coulomb energy take of a rank's owned atoms, and where they add their
// results. No torch.
#pragma once

#include <cstdint>
#include <span>

namespace mlip_dd {

struct OwnedCharges {
  std::span<const double> fractional;    // [n, 3] along the lattice's vectors; any cell
  std::span<const double> charges;       // [n] e
  std::int64_t count() const { return static_cast<std::int64_t>(charges.size()); }
};

// The energy is half the sum over owned atoms of charge times potential: the electrostatic energy
// is quadratic in the charges, so the potential is also its derivative by the charge.
struct CoulombSums {
  std::span<double> potential;      // [n_owned], V
  std::span<double> forces;         // [n_owned, 3], eV/Angstrom
  std::span<double> node_virial;    // [n_owned, 9], eV; empty unless wanted
  double *virial = nullptr;         // [9], eV; this rank's part
};

}    // namespace mlip_dd
