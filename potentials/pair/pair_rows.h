// The candidates of a graph laid out for kernels of pair potentials: each owned atom's neighbours
// in one run per type, four at a time, and positions that are read at once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/atom_graph.h"
#include "potentials/pair/packed4.h"
#include "potentials/pair/pair_view.h"

namespace mlip_dd {

// Every pair stands once with each of its owned ends, so that what belongs to an atom is summed by
// its owner alone and nothing needs to be added across ranks.
struct PairRows {
  int n_types = 0;
  std::int64_t n_owned = 0;
  std::vector<std::int32_t> types;          // [rows] index into the model's elements
  std::vector<std::int32_t> owned_atoms;    // [n_owned] host atom of each owned row
  std::vector<NeighbourRun> runs;           // [n_owned * n_types]
  // Host atoms; runs are filled up with one that is out of every reach.
  std::vector<std::int32_t> neighbours;
  std::vector<Packed4> atoms;    // [host atoms + 1] x, y, z, and the row as a number

  PairView view() const
  {
    return {n_types,     n_owned,           types.data(), owned_atoms.data(),
            runs.data(), neighbours.data(), atoms.data()};
  }

  const NeighbourRun &run(std::int64_t row, int type) const
  {
    return runs[static_cast<std::size_t>(row * n_types + type)];
  }
};

// At a reneighbouring: candidates whose receiver is an owned row. With one type, all atoms are of
// it, whatever their element. Memory is kept. Not collective.
void set_rows(PairRows &rows, const AtomGraph &graph, int n_types);

// Takes the positions [n_atoms, 3] of a step.
void set_positions(PairRows &rows, std::span<const double> positions);

}    // namespace mlip_dd
