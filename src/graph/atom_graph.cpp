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
  for (const CandidateEdge &edge : graph.candidates) {
    const double *receiver = &positions[3 * static_cast<std::size_t>(edge.receiver_atom)];
    const double *sender = &positions[3 * static_cast<std::size_t>(edge.sender_atom)];
    const double x = sender[0] - receiver[0];
    const double y = sender[1] - receiver[1];
    const double z = sender[2] - receiver[2];
    if (x * x + y * y + z * z >= cutoff_squared) continue;
    graph.receivers.push_back(edge.receiver_row);
    graph.senders.push_back(edge.sender_row);
    graph.vectors.insert(graph.vectors.end(), {x, y, z});
  }
}

}    // namespace mlip_dd
