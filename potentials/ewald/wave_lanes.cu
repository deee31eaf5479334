#include "potentials/ewald/wave_lanes.h"

#include "potentials/pair/lane_launch.cuh"

namespace mlip_dd {

void launch_waves(const FactorLanes &work, std::int64_t n, LaneSums *sums)
{
  launch_lanes(work, n, sums);
}

void launch_waves(const WaveLanes &work, std::int64_t n, LaneSums *sums)
{
  launch_lanes(work, n, sums);
}

}    // namespace mlip_dd
