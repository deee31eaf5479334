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

PairRows rows_of(const PeriodicSystem &system, double cutoff, int n_types)
{
  const std::vector<double> positions = host_positions(system, cutoff);
  PairRows rows;
  set_rows(rows, graph_of(system, cutoff), n_types);
  set_positions(rows, positions);
  return rows;
}

LaneResult::LaneResult(const PairRows &rows)
{
  const auto n = static_cast<std::size_t>(rows.n_owned);
  output_.node_energy.assign(n, 0.0);
  output_.forces.assign(3 * n, 0.0);
  output_.node_virial.assign(9 * n, 0.0);
}

NativeResult LaneResult::result() const
{
  return {output_.energy, output_.virial, output_.node_energy, output_.forces, output_.node_virial};
}

}    // namespace mlip_dd::test
