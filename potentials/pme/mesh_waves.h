// What the reciprocal sum does to the waves of a charge mesh: Essmann and others, J. Chem. Phys.
// 103, 8577 (1995), eqs. 4.7 and 4.9. No torch.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "potentials/coulomb/lattice.h"
#include "potentials/pme/mesh_transform.h"

namespace mlip_dd {

// Not collective: of the waves that a rank holds.
class MeshWaves {
 public:
  void set_mesh(const MeshSize &mesh, int order);

  // Before each pass of multiply() over all blocks, `waves` in all of them. Weights are kept while
  // nothing changes. `alpha` in 1/Angstrom.
  void set_lattice(const Lattice &lattice, double alpha, std::int64_t waves, int blocks);

  // values *= constant * 4 pi / V exp(-k^2 / 4 alpha^2) / k^2 times the splines' moduli; 0 at k =
  // 0. The moduli depend on indices alone, so that the virial is the exact derivative of the mesh
  // energy. `constant` in eV Angstrom / e^2. Different blocks at the same time.
  void multiply(const WaveBlock &block, double constant);

  // After the pass: that of its waves, row-major, eV.
  std::array<double, 9> take_virial();

  // values = factors * (delta_ab - 2 k_a k_b (1 / k^2 + 1 / 4 alpha^2)), where `factors` are those
  // that multiply() left of all blocks. Different blocks at the same time.
  void strain(const WaveBlock &block, std::span<const std::complex<double>> factors, std::size_t a,
              std::size_t b) const;

 private:
  MeshSize mesh_{};
  std::array<std::vector<double>, 3> moduli_;
  std::array<std::vector<double>, 3> indices_;    // of waves, those above K / 2 less K
  std::optional<Lattice> lattice_;
  double alpha_ = 0.0;
  std::vector<double> weights_;    // in the order of blocks
  bool stale_ = true;              // whether they are yet to be computed
  // Per block: the energies of its waves, and the six components of what each has less in its
  // virial.
  std::vector<std::array<double, 7>> sums_;
};

}    // namespace mlip_dd
