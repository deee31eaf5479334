// Charges by the place of the mesh they stand in, for the CPU. No torch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "potentials/pme/mesh_size.h"

namespace mlip_dd {

// All charges by bands of y, in each of them by x: in this order what several touch of the mesh
// stays in a cache. What charges of one band touch is in this band and the one before, by the
// periodic mesh; there is one band, or an even number.
struct ChargeBands {
  std::vector<std::int64_t> starts;     // [bands + 1]
  std::vector<std::int32_t> charges;    // [n]
  std::int64_t bands() const { return static_cast<std::int64_t>(starts.size()) - 1; }
};

// `fractional` [n, 3].
ChargeBands sort_into_bands(const MeshSize &mesh, std::span<const double> fractional);

}    // namespace mlip_dd
