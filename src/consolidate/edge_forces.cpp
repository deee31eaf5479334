#include "consolidate/edge_forces.h"

namespace mlip_dd {

void add_edge_forces(const AtomGraph &graph, std::span<const double> gradient,
                     std::span<double> forces)
{
  for (std::size_t e = 0; e < graph.receivers.size(); ++e) {
    double *receiver = &forces[3 * static_cast<std::size_t>(graph.receivers[e])];
    double *sender = &forces[3 * static_cast<std::size_t>(graph.senders[e])];
    for (std::size_t a = 0; a < 3; ++a) {
      receiver[a] += gradient[3 * e + a];
      sender[a] -= gradient[3 * e + a];
    }
  }
}

void add_edge_virial(const AtomGraph &graph, std::span<const double> gradient,
                     std::span<double, 9> virial)
{
  for (std::size_t e = 0; e < graph.receivers.size(); ++e)
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b)
        virial[3 * a + b] -= graph.vectors[3 * e + a] * gradient[3 * e + b];
}

void add_edge_node_virial(const AtomGraph &graph, std::span<const double> gradient,
                          VirialShare share, std::span<double> node_virial)
{
  const double part = receivers_part(share);
  for (std::size_t e = 0; e < graph.receivers.size(); ++e) {
    double *receiver = &node_virial[9 * static_cast<std::size_t>(graph.receivers[e])];
    double *sender = &node_virial[9 * static_cast<std::size_t>(graph.senders[e])];
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) {
        const double whole = graph.vectors[3 * e + a] * gradient[3 * e + b];
        receiver[3 * a + b] -= part * whole;
        sender[3 * a + b] -= (1.0 - part) * whole;
      }
  }
}

}    // namespace mlip_dd
