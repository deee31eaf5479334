#include "potentials/lj/lj_lanes.h"

#include "potentials/pair/lane_launch.cuh"

namespace mlip_dd {

void launch_lj(const LjLanes &work, LaneSums *sums)
{
  launch_lanes(work, work.rows.n_owned, sums);
}

}    // namespace mlip_dd
