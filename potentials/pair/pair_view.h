// The rows of a pair potential as kernels read them, in the memory of the CPU or of a GPU.
#pragma once

#include <cstdint>

#include "potentials/pair/number.h"
#include "potentials/pair/packed4.h"

namespace mlip_dd {

// Runs of neighbours are multiples of it, filled up with an atom that is out of every reach.
inline constexpr std::int64_t kPairsAtOnce = 4;
// So many places hold that many pairs.
MLIP_DD_TERM std::int64_t whole_runs(std::int64_t pairs)
{
  return (pairs + kPairsAtOnce - 1) / kPairsAtOnce * kPairsAtOnce;
}

inline constexpr double kOutOfReach = 1e20;    // its tenth power is a number still

// Neighbours of one type around one atom: entries [begin, end) of the neighbours.
struct NeighbourRun {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Addresses of what PairRows holds.
struct PairView {
  int n_types = 0;
  std::int64_t n_owned = 0;
  const std::int32_t *types = nullptr;
  const std::int32_t *owned_atoms = nullptr;
  const NeighbourRun *runs = nullptr;
  const std::int32_t *neighbours = nullptr;
  const Packed4 *atoms = nullptr;
};

}    // namespace mlip_dd
