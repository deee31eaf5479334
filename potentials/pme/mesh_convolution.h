// The mesh part of a lattice sum where one device has all of the mesh: transforms, weights and
// virials there.
#pragma once

#include <ATen/core/Tensor.h>

#include "potentials/coulomb/lattice.h"
#include "potentials/pme/mesh_size.h"
#include "potentials/pme/mesh_wave_lanes.h"

namespace mlip_dd {

// By lanes. Meshes are [points], row-major, on the device.
class MeshConvolution {
 public:
  explicit MeshConvolution(const at::Device &device) : device_(device) {}

  void set_mesh(const MeshSize &mesh, int order);

  // `mesh` of charges becomes that of potentials, as MeshTransform::convolve() with
  // MeshWaves::multiply(); adds to `virial` [9]. `alpha` in 1/Angstrom, `constant` in
  // eV Angstrom / e^2.
  void convolve(const Lattice &lattice, double alpha, double constant, const at::Tensor &mesh,
                const at::Tensor &virial);

  // Afterwards: `mesh` becomes that of component ab of the potentials' strain, as
  // MeshWaves::strain().
  void strain(int a, int b, const at::Tensor &mesh) const;

 private:
  void to_points(const at::Tensor &waves, const at::Tensor &mesh) const;

  at::Device device_;
  WaveGrid grid_;
  at::Tensor moduli_;
  at::Tensor waves_;    // as convolve() left them
};

}    // namespace mlip_dd
