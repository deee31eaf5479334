#include "potentials/pair/lane_launch.cuh"
#include "potentials/pme/spread_lanes.h"

namespace mlip_dd {

void launch_splines(const PlaceItems &work) { launch_items(work, work.spline.n); }

void launch_splines(const SpreadItems &work) { launch_items(work, work.spline.patch_points()); }

void launch_splines(const InterpolateLanes &work, LaneSums *sums)
{
  launch_lanes(work, work.spline.n, sums);
}

}    // namespace mlip_dd
