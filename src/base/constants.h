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

// Exact by the definition of the SI since 2019, of the calorie, and of the statcoulomb.
inline constexpr double kElementaryCharge = 1.602176634e-19;      // C
inline constexpr double kAvogadro = 6.02214076e23;                // 1/mol
inline constexpr double kThermochemicalKilocalorie = 4184.0;      // J
inline constexpr double kStatcoulomb = 1.0 / 2997924580.0;        // C

}    // namespace mlip_dd
