// Smooth particle-mesh Ewald (Essmann and others, J. Chem. Phys. 103, 8577 (1995)) as a reciprocal
// sum: charges on a mesh, one transform there, one back.
#pragma once

#include <memory>
#include <optional>

#include "comm/communicator.h"
#include "potentials/coulomb/reciprocal_sum.h"
#include "potentials/pme/mesh_size.h"
#include "potentials/pme/mesh_transform.h"

namespace mlip_dd {

struct MeshParameters {
  int order = 6;                                     // of the splines, 4 to 8
  std::optional<MeshSize> mesh;                      // chosen from the accuracy when absent
  MeshSharing sharing = MeshSharing::distributed;    // on one rank all of it is there
};

// `gpu`: index of the GPU that spreads, transforms and interpolates, or -1: the CPU, with `threads`
// threads beside those of the tensor library.
std::unique_ptr<ReciprocalSum> make_particle_mesh(const MeshParameters &parameters, double accuracy,
                                                  Communicator &communicator, int gpu = -1,
                                                  int threads = 1);

}    // namespace mlip_dd
