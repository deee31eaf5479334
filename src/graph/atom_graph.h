// The graph a model sees on one rank: owned and halo rows, and the edges within its cutoff.
// No torch, no LAMMPS.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mlip_dd {

// A pair that may become an edge before the next reneighbouring: closer than cutoff + skin when
// built. Rows index the model's atoms; atoms index the host program's position array, where each
// periodic image has an entry of its own, so x[sender_atom] - x[receiver_atom] is the edge vector
// as it stands.
struct CandidateEdge {
  std::int32_t receiver_atom = 0;
  std::int32_t sender_atom = 0;
  std::int64_t receiver_row = 0;
  std::int64_t sender_row = 0;
};

class DeviceGraph;

struct AtomGraph {
  std::int64_t n_owned = 0;
  std::int64_t n_halo = 0;
  std::vector<std::int32_t> types;          // [n_owned + n_halo] index into the model's elements
  std::vector<std::int32_t> owned_atoms;    // [n_owned] host atom of each owned row
  std::vector<CandidateEdge> candidates;    // sorted by receiver row; each pair in both directions

  // The edges within the cutoff at the present positions, in the candidates' order.
  std::vector<std::int64_t> receivers;    // [E] rows
  std::vector<std::int64_t> senders;      // [E] rows
  std::vector<double> vectors;            // [E, 3] x_sender + shift - x_receiver, Angstrom

  // Where set, the graph is there, and the arrays above are empty but for owned_atoms.
  std::shared_ptr<DeviceGraph> device;

  std::int64_t n_rows() const { return n_owned + n_halo; }
  std::int64_t n_edges() const;
};

// Refills receivers, senders and vectors with the candidates closer than `cutoff`. `positions` is
// [atoms, 3] in the model's length unit; entries of candidates only are read. Not collective.
void select_edges(AtomGraph &graph, std::span<const double> positions, double cutoff);

}    // namespace mlip_dd
