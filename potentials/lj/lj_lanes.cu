#include "potentials/lj/lj_lanes.h"
#include "potentials/pair/lane_launch.cuh"

namespace mlip_dd {

void launch_lj(const LjLanes &work, LaneSums *sums, void *stream)
{
  launch_lanes(work, work.rows.n_owned, sums, static_cast<cudaStream_t>(stream));
}

}    // namespace mlip_dd
