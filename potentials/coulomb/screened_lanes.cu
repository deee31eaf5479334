#include "potentials/coulomb/charge_items.h"
#include "potentials/coulomb/screened_lanes.h"
#include "potentials/pair/lane_launch.cuh"

namespace mlip_dd {

template void launch_lanes(const ScreenedLanes &, std::int64_t, LaneSums *, void *);
template void launch_items(const ScreenedResultItems &, std::int64_t, void *);
template void launch_items(const FractionalItems &, std::int64_t, void *);
template void launch_items(const CorrectionItems &, std::int64_t, void *);

}    // namespace mlip_dd
