#include "graph/graph_source.h"

#include <algorithm>

namespace mlip_dd {

HaloPlan HostGraphSource::build(Communicator &communicator,
                                std::span<const std::int32_t> model_types,
                                const BuildOptions &options, AtomGraph &graph)
{
  graph.device.reset();
  if (model_types.empty()) return build_graph(communicator, atoms_, neighbours_, options, graph);
  types_.resize(atoms_.types.size());
  std::transform(atoms_.types.begin(), atoms_.types.end(), types_.begin(), [&](std::int32_t type) {
    return type < 0 ? type : model_types[static_cast<std::size_t>(type)];
  });
  HostAtoms own = atoms_;
  own.types = types_;
  return build_graph(communicator, own, neighbours_, options, graph);
}

}    // namespace mlip_dd
