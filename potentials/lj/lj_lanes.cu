#include "potentials/lj/lj_lanes.h"
#include "potentials/pair/lane_launch.cuh"

namespace mlip_dd {

template void launch_lanes(const LjLanes &, std::int64_t, LaneSums *, void *);

}    // namespace mlip_dd
