// Numbers of physics and mathematics, each with its source. Units: eV, Angstrom, e.
#pragma once

namespace mlip_dd {

inline constexpr double kPi = 3.141592653589793238462643383279503;

// e^2 / (4 pi epsilon_0) in eV Angstrom. From CODATA 2018 it is 14.39964548; LAMMPS's metal units
// use this shorter value, and potentials take it by default so that their energies can be compared.
inline constexpr double kCoulombMetal = 14.399645;

// CODATA 2022, from https://physics.nist.gov/cuu/Constants.
inline constexpr double kBohr = 0.529177210544;         // Angstrom
inline constexpr double kHartree = 27.211386245981;    // eV

}    // namespace mlip_dd
