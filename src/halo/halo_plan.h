// Which rows travel between which ranks: built once per reneighbouring, then used by every
// exchange. No torch, no LAMMPS.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"

namespace mlip_dd {

// Where an atom lives: the rank that owns it and its row there.
struct RowOwner {
  int rank = 0;
  std::int64_t row = 0;
  auto operator<=>(const RowOwner &) const = default;
};

// One neighbouring rank's part of a list: entries [begin, begin + count).
struct PeerRange {
  int rank = 0;
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

// Rows are [owned | halo]: owned rows [0, n_owned), halo rows [n_owned, n_owned + n_halo), halo
// rows sorted by (owner rank, owner row). "gather" copies owners' rows into halo rows; "scatter"
// adds halo rows into their owners; both are named from the gather's point of view and are adjoint.
struct HaloPlan {
  std::int64_t n_owned = 0;
  std::int64_t n_halo = 0;

  // Halo rows by the rank that owns them; `begin` counts from the first halo row.
  std::vector<PeerRange> halo_peers;
  // Owned rows that other ranks hold copies of, by rank, ascending within each rank.
  std::vector<PeerRange> copy_peers;
  std::vector<std::int64_t> copy_rows;

  // The same copies by owned row, for sums in a fixed order: row sum_rows[s] receives the entries
  // sum_entries[sum_offsets[s] .. sum_offsets[s + 1]) of a buffer ordered like copy_rows.
  std::vector<std::int64_t> sum_rows;
  std::vector<std::int64_t> sum_offsets;
  std::vector<std::int64_t> sum_entries;

  std::int64_t n_rows() const { return n_owned + n_halo; }
  // True when no row of this rank travels: it may then skip every exchange, since no rank waits for
  // it.
  bool isolated() const { return halo_peers.empty() && copy_peers.empty(); }
};

// Collective. `wanted` names the remote atoms this rank's edges reach (duplicates allowed, order
// free). halo_rows[k] is set to the row of wanted[k]; its size must be wanted's. Throws Error when
// an entry names this rank, a rank that does not exist, or a row its owner lacks.
HaloPlan build_halo_plan(Communicator &communicator, std::int64_t n_owned,
                         std::span<const RowOwner> wanted, std::span<std::int64_t> halo_rows);

}    // namespace mlip_dd
