// Charges by the column of the mesh they stand in, so that a mesh point finds those around it. No
// torch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "potentials/pme/mesh_size.h"

namespace mlip_dd {

// Column x * size_y + y holds charges [starts[column], starts[column + 1]), in their own order.
struct ChargeColumns {
  std::vector<std::int32_t> starts;     // [size_x * size_y + 1]
  std::vector<std::int32_t> charges;    // [n]
};

// `fractional` [n, 3].
ChargeColumns sort_into_columns(const MeshSize &mesh, std::span<const double> fractional);

}    // namespace mlip_dd
