// If these fail, a rank sends or receives other rows than its edges need, or sums depend on chance.
#include <map>
#include <random>
#include <set>
#include <string>

#include "base/error.h"
#include "catch.h"
#include "comm/thread_communicator.h"
#include "halo/halo_plan.h"

using namespace mlip_dd;

namespace {

// Each rank owns rank + 1 rows (rank 0 none) and wants random rows of others, some twice.
std::vector<RowOwner> random_wishes(int rank, int ranks, std::mt19937_64 &random)
{
  std::vector<RowOwner> wishes;
  if (rank == 0) return wishes;    // nothing owned, nothing wanted
  for (int other = 1; other < ranks; ++other) {
    if (other == rank) continue;
    std::uniform_int_distribution<std::int64_t> row(0, other - 1);
    for (int k = 0; k < 3; ++k) wishes.push_back({other, row(random)});
  }
  return wishes;
}

}    // namespace

TEST_CASE("halo rows are the distinct atoms wanted, and each rank sends just what others want")
{
  constexpr int kRanks = 6;
  std::vector<HaloPlan> plans(kRanks);
  std::vector<std::vector<RowOwner>> wishes(kRanks);
  run_virtual_ranks(kRanks, [&](Communicator &communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    std::mt19937_64 random(17 + rank);
    wishes[rank] = random_wishes(communicator.rank(), kRanks, random);
    std::vector<std::int64_t> rows(wishes[rank].size());
    plans[rank] = build_halo_plan(communicator, communicator.rank(), wishes[rank], rows);

    std::map<std::int64_t, RowOwner> owner_of_row;
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto [entry, is_new] = owner_of_row.emplace(rows[k], wishes[rank][k]);
      if (entry->second != wishes[rank][k]) throw std::runtime_error("two atoms share a halo row");
    }
    if (owner_of_row.size() != std::set<RowOwner>(wishes[rank].begin(), wishes[rank].end()).size())
      throw std::runtime_error("an atom has two halo rows");
  });

  CHECK(plans[0].isolated());
  std::int64_t travelling = 0;
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const std::set<RowOwner> distinct(wishes[rank].begin(), wishes[rank].end());
    CHECK(plans[rank].n_halo == static_cast<std::int64_t>(distinct.size()));
    travelling += plans[rank].n_halo;
    // What this rank receives from a peer is what that peer sends to it, row by row in the same
    // order.
    auto wanted = distinct.begin();
    for (const PeerRange &peer : plans[rank].halo_peers) {
      const HaloPlan &sender = plans[static_cast<std::size_t>(peer.rank)];
      for (const PeerRange &copies : sender.copy_peers) {
        if (copies.rank != static_cast<int>(rank)) continue;
        REQUIRE(copies.count == peer.count);
        for (std::int64_t k = 0; k < copies.count; ++k, ++wanted)
          CHECK(RowOwner{peer.rank, sender.copy_rows[static_cast<std::size_t>(copies.begin + k)]} ==
                *wanted);
      }
    }
    CHECK(wanted == distinct.end());
  }
  CHECK(travelling > 20);    // the test is about rows that travel
}

TEST_CASE("the index of sums names every copy once, by ascending owned row")
{
  constexpr int kRanks = 5;
  run_virtual_ranks(kRanks, [&](Communicator &communicator) {
    std::mt19937_64 random(5 + static_cast<unsigned>(communicator.rank()));
    const auto wishes = random_wishes(communicator.rank(), kRanks, random);
    std::vector<std::int64_t> rows(wishes.size());
    const HaloPlan plan = build_halo_plan(communicator, communicator.rank(), wishes, rows);
    std::set<std::int64_t> entries;
    if (plan.sum_offsets.size() != plan.sum_rows.size() + 1) throw std::runtime_error("offsets");
    for (std::size_t s = 0; s < plan.sum_rows.size(); ++s) {
      if (s > 0 && plan.sum_rows[s] <= plan.sum_rows[s - 1])
        throw std::runtime_error("rows not ascending");
      if (plan.sum_offsets[s] >= plan.sum_offsets[s + 1]) throw std::runtime_error("empty segment");
      for (std::int64_t k = plan.sum_offsets[s]; k < plan.sum_offsets[s + 1]; ++k) {
        const std::int64_t entry = plan.sum_entries[static_cast<std::size_t>(k)];
        if (plan.copy_rows[static_cast<std::size_t>(entry)] != plan.sum_rows[s])
          throw std::runtime_error("entry of another row");
        entries.insert(entry);
      }
    }
    if (entries.size() != plan.copy_rows.size()) throw std::runtime_error("a copy is left out");
  });
  SUCCEED();
}

TEST_CASE("wishes that cannot be met are errors")
{
  const auto build = [](RowOwner wish) {
    run_virtual_ranks(2, [wish](Communicator &communicator) {
      std::vector<RowOwner> wishes;
      if (communicator.rank() == 0) wishes.push_back(wish);
      std::vector<std::int64_t> rows(wishes.size());
      build_halo_plan(communicator, 2, wishes, rows);
    });
  };
  CHECK_NOTHROW(build({1, 1}));
  CHECK_THROWS_AS(build({0, 0}), Error);    // its own row
  CHECK_THROWS_AS(build({2, 0}), Error);    // no such rank
  CHECK_THROWS_AS(build({1, 2}), Error);    // no such row
  CHECK_THROWS_AS(build({1, -1}), Error);
}
