// Four doubles in memory, aligned so that kernels read them at once.
#pragma once

namespace mlip_dd {

struct alignas(32) Packed4 {
  double values[4];
};

}    // namespace mlip_dd
