// Builds an AtomGraph and its HaloPlan from a neighbour list over atoms and their ghosts, by
// folding periodic images onto the atoms they are images of. Once per reneighbouring.
#pragma once

#include <cstdint>
#include <span>

#include "comm/communicator.h"
#include "graph/atom_graph.h"
#include "graph/host_atoms.h"
#include "halo/halo_plan.h"

namespace mlip_dd {

struct BuildOptions {
  // Candidates are pairs closer than this: the model's cutoff plus the skin. Angstrom.
  double reach = 0.0;
  // Rounds of message passing computed from local data alone. 1: edges end at owned atoms, and
  // features of halo rows must be exchanged. n > 1: atoms up to n - 1 edges away receive too, and
  // nothing needs to be exchanged; ghosts and the lists of ghosts must then reach n * reach.
  int layers_held = 1;
  bool on_device = false;    // whether the model takes a DeviceGraph
  // Every other atom of the system gets a halo row, also those that no edge reaches.
  bool every_atom = false;
};

// Rows of the owned atoms, in the host's order without those outside the model: owned_rows[i] for
// local atom i, or kNotInModel. Returns their number.
std::int64_t number_owned_rows(std::span<const std::int32_t> types, std::int64_t n_local,
                               std::span<std::int64_t> owned_rows);

// Collective. Fills rows, types and candidates of `graph` (not its edges) and returns the plan that
// goes with it. `neighbours` is asked for local atoms, and for ghosts when layers_held > 1. A
// pair's shift is left implicit in the host's image positions.
HaloPlan build_graph(Communicator &communicator, const HostAtoms &atoms,
                     const NeighbourList &neighbours, const BuildOptions &options,
                     AtomGraph &graph);

}    // namespace mlip_dd
