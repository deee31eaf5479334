#include "pair/lane_run.h"

#include "comm/communicator.h"
#include "graph/build.h"

namespace mlip_dd::test {

namespace {

constexpr double kSkin = 0.5;    // pairs that must not count

VirtualRank whole_system(const PeriodicSystem &system, double cutoff)
{
  const std::vector<int> owners(static_cast<std::size_t>(system.size()), 0);
  return VirtualRank(system, owners, 0, cutoff + 2.0 * kSkin);
}

}    // namespace

AtomGraph graph_of(const PeriodicSystem &system, double cutoff)
{
  const VirtualRank view = whole_system(system, cutoff);
  const auto communicator = make_self_communicator();
  AtomGraph graph;
  BuildOptions options;
  options.reach = cutoff + kSkin;
  const NeighbourList neighbours = view.neighbours();
  build_graph(*communicator, view.atoms(), neighbours, options, graph);
  return graph;
}

std::vector<double> host_positions(const PeriodicSystem &system, double cutoff)
{
  const VirtualRank view = whole_system(system, cutoff);
  const HostStep step = view.step();
  return {step.positions.begin(), step.positions.end()};
}

}    // namespace mlip_dd::test
