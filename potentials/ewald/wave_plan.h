// The wave vectors of an Ewald sum in use, and why those.
#pragma once

#include <optional>
#include <string>

#include "potentials/coulomb/accuracy.h"
#include "potentials/coulomb/parameters.h"
#include "potentials/ewald/wave_vectors.h"

namespace mlip_dd {

struct EwaldParameters {
  std::optional<double> k_cutoff;                 // 1/Angstrom
  std::optional<std::array<int, 3>> k_largest;    // all wave vectors up to these indices
};

struct WavePlan {
  WaveVectors waves;
  double k_cutoff = 0.0;    // 1/Angstrom; of those left out, the shortest
};

// Where the parameters say neither, k_cutoff follows from `accuracy`.
WavePlan plan_waves(const EwaldParameters &parameters, double accuracy, const Lattice &lattice,
                    const ChargeTotals &totals, double alpha);

std::string describe(const WavePlan &plan);

}    // namespace mlip_dd
