#include "potentials/ewald/wave_lanes.h"
#include "potentials/pair/lane_launch.cuh"

namespace mlip_dd {

template void launch_lanes(const FactorLanes &, std::int64_t, LaneSums *, void *);
template void launch_lanes(const WaveLanes &, std::int64_t, LaneSums *, void *);
template void launch_items(const WeighItems &, std::int64_t, void *);
template void launch_items(const WaveResultItems &, std::int64_t, void *);

}    // namespace mlip_dd
