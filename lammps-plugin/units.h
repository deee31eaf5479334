// Between the host's units and those of the models: eV, Angstrom and elementary charges.
#pragma once

#include <string>

namespace mlip_dd {

// What one unit of the host is.
struct HostUnits {
  double length = 1.0;    // Angstrom
  double energy = 1.0;    // eV
  double charge = 1.0;    // e

  // Factors from the models' numbers to the host's.
  double energy_to_host() const { return 1.0 / energy; }
  double force_to_host() const { return length / energy; }

  bool operator==(const HostUnits &) const = default;
};

// For LAMMPS's `units`. Throws Error where they are lj and the model is not `dimensionless`, or the
// other way round.
HostUnits host_units(const std::string &style, bool dimensionless);

}    // namespace mlip_dd
