// From one number, the RMS error of a force, to the parameters of a lattice sum, and back. No
// torch.
#pragma once

#include <cstdint>

#include "potentials/coulomb/lattice.h"

namespace mlip_dd {

// Sums over all atoms of the system; the same bits on every rank.
struct ChargeTotals {
  double charge = 0.0;            // e
  double charge_squared = 0.0;    // e^2
  double atoms = 0.0;
};

// All errors here are RMS errors of one atom's force, over the force between two unit charges
// 1 Angstrom apart: the unit that LAMMPS's kspace_style uses too.

// Of leaving out pairs beyond `cutoff` (Kolafa and Perram, Mol. Simul. 9, 351 (1992), eq. 18).
double real_space_error(const ChargeTotals &totals, double volume, double alpha, double cutoff);

// Of leaving out wave vectors beyond `k_cutoff`, from the mean square over independent positions:
// (Q2^2 / N) (8 / V) times the integral of exp(-k^2 / 2 alpha^2) from k_cutoff on.
double wave_vector_error(const ChargeTotals &totals, double volume, double alpha, double k_cutoff);

// Real and reciprocal part each may have this share of the mean square error.
double share_of(double accuracy);

// A cutoff that balances the work of both parts of a plain Ewald sum: 9 Angstrom at 1e-5, larger
// for smaller errors so that alpha keeps its value. A multiple of 0.1.
double default_cutoff(double accuracy);

// The smallest alpha on a coarse grid whose real_space_error is at most half of share_of(accuracy):
// in crystals the pairs left out stand in shells, and their forces add up to more than those of
// independent positions. The grid makes alpha independent of small changes of box and composition,
// as after a restart.
double choose_alpha(const ChargeTotals &totals, double volume, double cutoff, double accuracy);

// The smallest k_cutoff whose wave_vector_error is at most share_of(accuracy).
double choose_k_cutoff(const ChargeTotals &totals, double volume, double alpha, double accuracy);

}    // namespace mlip_dd
