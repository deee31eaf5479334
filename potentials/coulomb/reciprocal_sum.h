// The long-range part of a lattice sum, as what all its realisations share: Ewald's structure
// factors or a particle mesh.
#pragma once

#include <string>
#include <vector>

#include "halo/traffic.h"
#include "potentials/coulomb/accuracy.h"
#include "potentials/coulomb/charge_tensors.h"
#include "potentials/coulomb/lattice.h"

namespace mlip_dd {

// The wave vectors k != 0 of 1/2 sum_ij q_i q_j sum_k (4 pi / V) exp(-k^2 / 4 alpha^2) / k^2
// exp(i k (r_i - r_j)). The pairs i = j of one image are in it; the caller takes them out.
class ReciprocalSum {
 public:
  virtual ~ReciprocalSum() = default;

  // Collective, same arguments on all ranks. Chooses wave vectors or mesh anew for this lattice;
  // they serve until the next call, in lattices up to kPlannedChange off.
  virtual void plan(const Lattice &lattice, const ChargeTotals &totals, double alpha) = 0;

  // Collective. Adds to `sums`, which are on the device that this was made for, as `atoms` are.
  // `constant` in eV Angstrom / e^2.
  virtual void add(const Lattice &lattice, const ChargeTensors &atoms, double constant,
                   const CoulombTensors &sums) = 0;

  // RMS force error of the present plan, in the unit of accuracy.h.
  virtual double error(const Lattice &lattice, const ChargeTotals &totals) const = 0;

  virtual Traffic traffic() const = 0;
  // Of the present plan, one line or more, without the potential's name.
  virtual std::vector<std::string> description() const = 0;

  // The caller plans anew when the lattice has changed by more than this; plans allow for it.
  static constexpr double kPlannedChange = 0.02;
};

}    // namespace mlip_dd
