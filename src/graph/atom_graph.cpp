#include "graph/atom_graph.h"

namespace mlip_dd {

void select_edges(AtomGraph &graph, std::span<const double> positions, double cutoff)
{
  graph.receivers.clear();
  graph.senders.clear();
  graph.vectors.clear();
  graph.receivers.reserve(graph.candidates.size());
  graph.senders.reserve(graph.candidates.size());
  graph.vectors.reserve(3 * graph.candidates.size());
  const double cutoff_squared = cutoff * cutoff;
  for (std::size_t row = 0; row < graph.candidates.receivers(); ++row) {
    const double *receiver =
        &positions[3 * static_cast<std::size_t>(graph.candidates.receiver_atoms[row])];
    for (const std::int32_t atom : graph.candidates.senders_of(row)) {
      const double *sender = &positions[3 * static_cast<std::size_t>(atom)];
      const double x = sender[0] - receiver[0];
      const double y = sender[1] - receiver[1];
      const double z = sender[2] - receiver[2];
      if (x * x + y * y + z * z >= cutoff_squared) continue;
      graph.receivers.push_back(static_cast<std::int64_t>(row));
      graph.senders.push_back(graph.candidates.atom_rows[static_cast<std::size_t>(atom)]);
      graph.vectors.insert(graph.vectors.end(), {x, y, z});
    }
  }
}

}    // namespace mlip_dd
