// The real-space part of a lattice sum: pairs of charges within the cutoff, screened by
// erfc(alpha r).
#pragma once

#include <memory>

#include "potentials/coulomb/charge_tensors.h"
#include "potentials/pair/pair_view.h"

namespace mlip_dd {

class RealSpaceSum {
 public:
  virtual ~RealSpaceSum() = default;

  // Cheap where nothing changed.
  virtual void set_parameters(double alpha, double cutoff) = 0;

  // At each reneighbouring, before add(): rows of one type.
  virtual void set_pairs(const PairView &rows) = 0;

  // Adds to `sums`. `charges` [rows] are those of all rows, `constant` in eV Angstrom / e^2. Every
  // pair counts in full for its owned ends, so nothing goes to halo rows. All lie on the device
  // that this was made for.
  virtual void add(const PairView &rows, const at::Tensor &charges, double constant,
                   const CoulombTensors &sums) = 0;
};

// On the CPU, by `threads` threads: of pairs of two owned atoms one direction is kept.
std::unique_ptr<RealSpaceSum> make_real_space_sum(int threads = 1);

// By lanes on `device`.
std::unique_ptr<RealSpaceSum> make_real_space_lanes(const at::Device &device);

}    // namespace mlip_dd
