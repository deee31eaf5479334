// If these fail, messages or sums between ranks are lost, mixed up or not repeatable, and every
// exchange built on them is wrong.
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "catch.h"
#include "comm/thread_communicator.h"

using namespace mlip_dd;

TEST_CASE("a virtual rank that leaves out a call is an error of the others, not a wait for ever")
{
  for (const bool other_length : {false, true})
    CHECK_THROWS_AS(run_virtual_ranks(3,
                                      [&](Communicator &communicator) {
                                        std::array<double, 2> pair{};
                                        std::array<double, 1> one{};
                                        if (communicator.rank() != 1) communicator.sum(pair);
                                        if (communicator.rank() == 1 && !other_length) return;
                                        communicator.sum(one);
                                      }),
                    Error);
  CHECK_THROWS_WITH(run_virtual_ranks(2,
                                      [&](Communicator &communicator) {
                                        double value = 0.0;
                                        const Message message{1, &value, sizeof value};
                                        if (communicator.rank() == 0)
                                          communicator.exchange({}, {&message, 1});
                                      }),
                    test::contains("has ended"));
}

TEST_CASE("exchange brings each rank its partners' messages, in the order of calls")
{
  constexpr int kRanks = 5;
  std::array<std::array<int, 2>, kRanks> heard{};
  run_virtual_ranks(kRanks, [&](Communicator &communicator) {
    const int rank = communicator.rank(), next = (rank + 1) % kRanks,
              before = (rank + kRanks - 1) % kRanks;
    for (int round = 0; round < 2; ++round) {
      int sent = 100 * round + rank;
      int received = -1;
      const std::array sends{Message{next, &sent, sizeof sent}};
      const std::array receives{Message{before, &received, sizeof received}};
      communicator.exchange(sends, receives);
      heard[static_cast<std::size_t>(rank)][static_cast<std::size_t>(round)] = received;
    }
  });
  for (int rank = 0; rank < kRanks; ++rank)
    for (int round = 0; round < 2; ++round)
      CHECK(heard[static_cast<std::size_t>(rank)][static_cast<std::size_t>(round)] ==
            100 * round + (rank + kRanks - 1) % kRanks);
}

TEST_CASE("deliver tells receivers of parcels they did not expect, ordered by sender")
{
  constexpr int kRanks = 4;
  std::array<std::vector<Parcel>, kRanks> received;
  run_virtual_ranks(kRanks, [&](Communicator &communicator) {
    for (int round = 0; round < 3; ++round) {
      std::vector<Parcel> parcels;
      // Rank 0 sends nothing; all others send to 0 and to themselves.
      if (communicator.rank() > 0)
        parcels = {{0, {communicator.rank(), round}}, {communicator.rank(), {}}};
      received[static_cast<std::size_t>(communicator.rank())] = communicator.deliver(parcels);
    }
  });
  REQUIRE(received[0].size() == 3);
  for (int k = 0; k < 3; ++k) {
    CHECK(received[0][static_cast<std::size_t>(k)].rank == k + 1);
    CHECK(received[0][static_cast<std::size_t>(k)].values == std::vector<std::int64_t>{k + 1, 2});
  }
  REQUIRE(received[2].size() == 1);
  CHECK(received[2][0].rank == 2);
  CHECK(received[2][0].values.empty());
}

TEST_CASE("sums, maxima and broadcasts are the same on all ranks")
{
  constexpr int kRanks = 7;
  std::array<double, kRanks> sums{};
  std::array<std::int64_t, kRanks> counts{}, maxima{};
  std::array<int, kRanks> told{};
  run_virtual_ranks(kRanks, [&](Communicator &communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    std::array<double, 1> sum{0.1 * communicator.rank()};
    std::array<std::int64_t, 1> count{communicator.rank()}, maximum{-communicator.rank()};
    communicator.sum(sum);
    communicator.sum(count);
    communicator.max(maximum);
    int value = communicator.rank() == 3 ? 42 : 0;
    communicator.broadcast(&value, sizeof value, 3);
    sums[rank] = sum[0];
    counts[rank] = count[0];
    maxima[rank] = maximum[0];
    told[rank] = value;
  });
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    CHECK(sums[rank] == sums[0]);
    CHECK(std::abs(sums[rank] - 2.1) < 1e-14);
    CHECK(counts[rank] == 21);
    CHECK(maxima[rank] == 0);
    CHECK(told[rank] == 42);
  }
}

TEST_CASE("a rank that throws ends the others' waits, and its own exception comes out")
{
  CHECK_THROWS_AS(run_virtual_ranks(3,
                                    [](Communicator &communicator) {
                                      if (communicator.rank() == 1) throw std::out_of_range("mine");
                                      std::array<double, 1> value{1.0};
                                      communicator.sum(value);
                                    }),
                  std::out_of_range);
}

TEST_CASE("a message of another length than expected is an error")
{
  CHECK_THROWS_AS(run_virtual_ranks(2,
                                    [](Communicator &communicator) {
                                      std::array<char, 8> buffer{};
                                      const int other = 1 - communicator.rank();
                                      const std::size_t length = communicator.rank() == 0 ? 4 : 8;
                                      const std::array sends{Message{other, buffer.data(), length}};
                                      const std::array receives{Message{other, buffer.data(), 8}};
                                      communicator.exchange(sends, receives);
                                    }),
                  Error);
}

TEST_CASE("one rank alone communicates with nobody")
{
  const auto self = make_self_communicator();
  CHECK(self->size() == 1);
  const std::vector<Parcel> parcels{{0, {7}}};
  REQUIRE(self->deliver(parcels).size() == 1);
  char byte = 0;
  const std::array sends{Message{1, &byte, 1}};
  CHECK_THROWS_AS(self->exchange(sends, {}), Error);
}
