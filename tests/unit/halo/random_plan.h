// A plan over some ranks, one of them without atoms, for tests of the exchange.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "comm/communicator.h"
#include "halo/halo_plan.h"

namespace mlip_dd::test {

inline constexpr int kRanks = 6;
inline constexpr int kEmptyRank = 2;

// The owner and row of every atom, as every rank knows them: rank r owns 3 + r rows, one rank none.
inline std::vector<RowOwner> all_atoms()
{
  std::vector<RowOwner> atoms;
  for (int rank = 0; rank < kRanks; ++rank)
    for (std::int64_t row = 0; rank != kEmptyRank && row < 3 + rank; ++row)
      atoms.push_back({rank, row});
  return atoms;
}

inline std::int64_t owned_by(int rank) { return rank == kEmptyRank ? 0 : 3 + rank; }

// A plan in which each rank with atoms holds about half of all remote atoms; `halo` becomes the
// atoms of its halo rows.
inline HaloPlan random_plan(Communicator &communicator, std::vector<RowOwner> &halo)
{
  std::mt19937_64 random(99 + static_cast<unsigned>(communicator.rank()));
  std::bernoulli_distribution coin(0.5);
  std::vector<RowOwner> wishes;
  for (const RowOwner &atom : all_atoms())
    if (communicator.rank() != kEmptyRank && atom.rank != communicator.rank() && coin(random))
      wishes.push_back(atom);
  std::vector<std::int64_t> rows(wishes.size());
  HaloPlan plan = build_halo_plan(communicator, owned_by(communicator.rank()), wishes, rows);
  halo.resize(wishes.size());
  for (std::size_t k = 0; k < wishes.size(); ++k)
    halo[static_cast<std::size_t>(rows[k] - plan.n_owned)] = wishes[k];
  return plan;
}

}    // namespace mlip_dd::test
