// Smooth particle-mesh Ewald (Essmann and others, J. Chem. Phys. 103, 8577 (1995)) as a reciprocal
// sum: charges on a mesh, one transform there, one back.
#pragma once

#include <memory>
#include <optional>

#include "comm/communicator.h"
#include "potentials/coulomb/reciprocal_sum.h"
#include "potentials/pair/native_device.h"
#include "potentials/pme/mesh_size.h"
#include "potentials/pme/mesh_transform.h"

namespace mlip_dd {

struct MeshParameters {
  int order = 6;                                     // of the splines, 4 to 8
  std::optional<MeshSize> mesh;                      // chosen from the accuracy when absent
  MeshSharing sharing = MeshSharing::distributed;    // on one rank all of it is there
};

// By lanes on `device`, or on the CPU with `threads` threads beside those of the tensor library. By
// lanes on one rank all stays on the device; on several the mesh travels, and its parts are
// weighed, by the CPU.
std::unique_ptr<ReciprocalSum> make_particle_mesh(const MeshParameters &parameters, double accuracy,
                                                  Communicator &communicator,
                                                  const NativeDevice &device = {}, int threads = 1);

}    // namespace mlip_dd
