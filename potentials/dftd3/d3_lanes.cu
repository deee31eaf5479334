#include "potentials/dftd3/d3_lanes.h"
#include "potentials/dftd3/d3_triple_lanes.h"
#include "potentials/pair/lane_launch.cuh"

namespace mlip_dd {

void launch_d3(const D3CountLanes &work, LaneSums *sums)
{
  launch_lanes(work, work.view.rows.n_owned, sums);
}

void launch_d3(const D3DispersionLanes &work, LaneSums *sums)
{
  launch_lanes(work, work.view.rows.n_owned, sums);
}

void launch_d3(const D3TripleLanes &work, LaneSums *sums)
{
  launch_lanes(work, work.view.rows.n_owned, sums);
}

void launch_d3(const D3CoordinationLanes &work, LaneSums *sums)
{
  launch_lanes(work, work.view.rows.n_owned, sums);
}

}    // namespace mlip_dd
