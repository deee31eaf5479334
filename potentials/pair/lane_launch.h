// The launch of work by lanes and by items on a GPU, for callers that CUDA's compiler does not see.
// No torch.
#pragma once

#include "potentials/pair/lanes.h"

namespace mlip_dd {

// Enqueue on `stream`, a cudaStream_t of the current GPU, where `sums` [n] and everything that
// `work` points to lie. Defined in lane_launch.cuh; the .cu files of the potentials instantiate
// them for each of their kernels. Throw Error where the GPU refuses.
template <class Work>
void launch_lanes(const Work &work, std::int64_t n, LaneSums *sums, void *stream = nullptr);
template <class Work>
void launch_items(const Work &work, std::int64_t n, void *stream = nullptr);

}    // namespace mlip_dd
