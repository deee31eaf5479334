// The graph a model sees on one rank: owned and halo rows, and the edges within its cutoff.
// No torch, no LAMMPS.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace mlip_dd {

// The pairs that may become edges before the next reneighbouring: closer than cutoff + skin when
// built, each in both directions, by receiver. Rows index the model's atoms; atoms index the host
// program's position array, where each periodic image has an entry of its own, so
// x[sender_atom] - x[receiver_atom] is the edge vector as it stands.
struct CandidateList {
  static constexpr std::int32_t kNoRow = -1;    // no candidate has the atom at either end

  // [R] host atoms of the first R rows: the owned ones, and others where further layers receive; 0
  // of a row that receives nothing.
  std::vector<std::int32_t> receiver_atoms;
  std::vector<std::int64_t> offsets{0};      // [R + 1] of the candidates of each
  std::vector<std::int32_t> sender_atoms;    // [C] host atoms
  std::vector<std::int32_t> atom_rows;       // [host atoms] row of each, or kNoRow

  std::size_t receivers() const { return receiver_atoms.size(); }
  std::size_t size() const { return sender_atoms.size(); }
  std::int64_t sender_row(std::size_t k) const
  {
    return atom_rows[static_cast<std::size_t>(sender_atoms[k])];
  }
  std::size_t bytes() const
  {
    return (receiver_atoms.capacity() + sender_atoms.capacity() + atom_rows.capacity()) *
               sizeof(std::int32_t) +
           offsets.capacity() * sizeof(std::int64_t);
  }
  // Host atoms of the senders of a row.
  std::span<const std::int32_t> senders_of(std::size_t row) const
  {
    return std::span(sender_atoms)
        .subspan(static_cast<std::size_t>(offsets[row]),
                 static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
  }
};

class DeviceGraph;

struct AtomGraph {
  std::int64_t n_owned = 0;
  std::int64_t n_halo = 0;
  std::vector<std::int32_t> types;          // [n_owned + n_halo] index into the model's elements
  std::vector<std::int32_t> owned_atoms;    // [n_owned] host atom of each owned row
  CandidateList candidates;

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
