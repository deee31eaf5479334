// Which wave vectors an Ewald sum takes, in columns of equal first and second index, and their
// weights in a lattice. No torch.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "potentials/coulomb/lattice.h"

namespace mlip_dd {

// k = h b0 + k b1 + l b2 for l in [first, last]; of k and -k one is taken.
struct WaveColumn {
  int h = 0, k = 0;
  int first = 0, last = -1;
};

struct WaveVectors {
  std::vector<WaveColumn> columns;
  std::array<int, 3> largest{};    // of |h|, |k|, |l|
  std::int64_t count = 0;

  // Values of l, from -largest[2] on, and up to three more for matrix products; columns cover a
  // part of them.
  std::int64_t width() const { return (2 * largest[2] + 4) / 4 * 4; }
};

// All vectors up to k_cutoff (1/Angstrom).
WaveVectors waves_in_sphere(const Lattice &lattice, double k_cutoff);
// All with |h|, |k|, |l| up to `largest`.
WaveVectors waves_in_box(const std::array<int, 3> &largest);

Vector3 wave_vector(const Lattice &lattice, int h, int k, int l);

}    // namespace mlip_dd
