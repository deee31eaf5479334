// What stands between the two passes of Ewald's sum over lanes, and after them.
#pragma once

#include <span>
#include <vector>

#include "potentials/coulomb/reciprocal_sum.h"
#include "potentials/ewald/wave_lanes.h"
#include "potentials/ewald/wave_vectors.h"

namespace mlip_dd {

// The indices of all wave vectors, column by column.
std::vector<WaveNumbers> wave_indices(const WaveVectors &waves);

// Sets what follows from `factors` [waves, 2], real and imaginary parts summed over ranks.
// `virial`: where their energy's goes, or null. `constant` in eV Angstrom / e^2.
void weigh_waves(std::vector<WaveNumbers> &waves, const Lattice &lattice, double alpha,
                 double constant, std::span<const double> factors, std::array<double, 9> *virial);

// `lanes` [n_owned] of WaveLanes.
void add_wave_sums(const std::vector<LaneSums> &lanes, const Lattice &lattice,
                   const OwnedCharges &atoms, const CoulombSums &sums);

}    // namespace mlip_dd
