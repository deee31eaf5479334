#include "potentials/dftd3/d3_lanes.h"
#include "potentials/dftd3/d3_triple_lanes.h"
#include "potentials/pair/lane_launch.cuh"

namespace mlip_dd {

template void launch_lanes(const D3CountLanes &, std::int64_t, LaneSums *, void *);
template void launch_items(const D3WeightItems &, std::int64_t, void *);
template void launch_lanes(const D3DispersionLanes &, std::int64_t, LaneSums *, void *);
template void launch_lanes(const D3TripleLanes &, std::int64_t, LaneSums *, void *);
template void launch_lanes(const D3CoordinationLanes &, std::int64_t, LaneSums *, void *);

}    // namespace mlip_dd
