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

class MeshWaves {
 public:
  void set_mesh(const MeshSize &mesh, int order);

  // Of the blocks that follow; `count` waves in all of them. Weights are kept while nothing
  // changes.
  void set_lattice(const Lattice &lattice, double alpha, std::int64_t count);

  // values *= constant * 4 pi / V exp(-k^2 / 4 alpha^2) / k^2 times the splines' moduli; 0 at k =
  // 0. The moduli depend on indices alone, so that the virial is the exact derivative of the mesh
  // energy: that of the waves in this block is added to `virial`, row-major, where not null.
  void multiply(const WaveBlock &block, double constant, std::array<double, 9> *virial);

  // values = factors * (delta_ab - 2 k_a k_b (1 / k^2 + 1 / 4 alpha^2)), where `factors` are those
  // that multiply() left of all blocks.
  void strain(const WaveBlock &block, std::span<const std::complex<double>> factors, std::size_t a,
              std::size_t b) const;

 private:
  MeshSize mesh_{};
  std::array<std::vector<double>, 3> moduli_;
  std::array<std::vector<double>, 3> indices_;    // of waves, those above K / 2 less K
  std::optional<Lattice> lattice_;
  double alpha_ = 0.0;
  std::vector<double> weights_;    // in the order of blocks
  std::int64_t weighed_ = 0;       // of them, those that are for lattice_ and alpha_
};

}    // namespace mlip_dd
