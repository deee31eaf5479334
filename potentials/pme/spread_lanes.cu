#include "potentials/pair/lane_launch.cuh"
#include "potentials/pme/mesh_items.h"
#include "potentials/pme/mesh_wave_lanes.h"
#include "potentials/pme/spread_lanes.h"

namespace mlip_dd {

template void launch_items(const PlaceItems &, std::int64_t, void *);
template void launch_items(const SpreadItems &, std::int64_t, void *);
template void launch_lanes(const InterpolateLanes &, std::int64_t, LaneSums *, void *);
template void launch_items(const MarkItems &, std::int64_t, void *);
template void launch_items(const MeshResultItems &, std::int64_t, void *);
template void launch_lanes(const MeshWaveLanes &, std::int64_t, LaneSums *, void *);
template void launch_items(const StrainItems &, std::int64_t, void *);

}    // namespace mlip_dd
