#include "comm/thread_communicator.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "base/error.h"

namespace mlip_dd {

namespace {

// What the threads share: one mailbox per ordered pair of ranks, and one board for collectives.
struct Hub {
  explicit Hub(int ranks)
      : size(ranks),
        mailboxes(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)),
        board(static_cast<std::size_t>(ranks)),
        lengths(static_cast<std::size_t>(ranks)),
        ended(static_cast<std::size_t>(ranks))
  {}

  std::deque<std::vector<char>> &mailbox(int from, int to)
  {
    return mailboxes[static_cast<std::size_t>(from) * static_cast<std::size_t>(size) +
                     static_cast<std::size_t>(to)];
  }

  // `missing`: whether one that is waited for has ended.
  template <class Condition, class Missing>
  void wait(std::unique_lock<std::mutex> &lock, Condition condition, Missing missing)
  {
    changed.wait(lock, [&] { return failed || condition() || missing(); });
    if (failed) throw Error({"another virtual rank failed", "", "", ""});
    if (!condition())
      throw Error({"a virtual rank has ended while another waits for it", "", "", ""});
  }

  // All ranks meet here; `last` is run by the last to arrive, before any leaves.
  template <class Last>
  void meet(std::unique_lock<std::mutex> &lock, Last last)
  {
    const std::int64_t round = rounds;
    if (++arrived == size) {
      last();
      arrived = 0;
      ++rounds;
      changed.notify_all();
    } else {
      wait(
          lock, [&] { return rounds != round; },
          [&] { return std::find(ended.begin(), ended.end(), true) != ended.end(); });
    }
  }

  int size;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::deque<std::vector<char>>> mailboxes;
  std::vector<void *> board;
  std::vector<std::size_t> lengths;    // of what is on the board
  std::vector<bool> ended;             // by rank
  std::vector<std::vector<Parcel>> parcels;
  int arrived = 0;
  std::int64_t rounds = 0;
  bool failed = false;
  std::exception_ptr first_failure;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(Hub &hub, int rank) : hub_(hub), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return hub_.size; }

  void exchange(std::span<const Message> sends, std::span<const Message> receives) override
  {
    std::unique_lock lock(hub_.mutex);
    for (const Message &message : sends) {
      const auto *data = static_cast<const char *>(message.data);
      hub_.mailbox(rank_, message.rank).emplace_back(data, data + message.bytes);
    }
    hub_.changed.notify_all();
    for (const Message &message : receives) {
      auto &mailbox = hub_.mailbox(message.rank, rank_);
      const auto sender = static_cast<std::size_t>(message.rank);
      hub_.wait(
          lock, [&] { return !mailbox.empty(); }, [&] { return hub_.ended[sender]; });
      if (mailbox.front().size() != message.bytes)
        throw Error({"a message has another length than the receiver expects",
                     std::to_string(mailbox.front().size()) + " bytes, expected " +
                         std::to_string(message.bytes),
                     "rank " + std::to_string(rank_), ""});
      std::copy(mailbox.front().begin(), mailbox.front().end(), static_cast<char *>(message.data));
      mailbox.pop_front();
    }
  }

  std::vector<Parcel> deliver(std::span<const Parcel> parcels) override
  {
    std::unique_lock lock(hub_.mutex);
    if (hub_.parcels.empty()) hub_.parcels.resize(static_cast<std::size_t>(hub_.size));
    for (const Parcel &parcel : parcels)
      hub_.parcels[static_cast<std::size_t>(parcel.rank)].push_back({rank_, parcel.values});
    hub_.meet(lock, [] {});
    std::vector<Parcel> received = std::move(hub_.parcels[static_cast<std::size_t>(rank_)]);
    hub_.parcels[static_cast<std::size_t>(rank_)].clear();
    // Nobody may post for the next delivery before all have taken theirs.
    hub_.meet(lock, [] {});
    std::stable_sort(received.begin(), received.end(),
                     [](const Parcel &a, const Parcel &b) { return a.rank < b.rank; });
    return received;
  }

  void sum(std::span<double> values) override
  {
    reduce(values, [](double a, double b) { return a + b; });
  }
  void sum(std::span<std::int64_t> values) override
  {
    reduce(values, [](std::int64_t a, std::int64_t b) { return a + b; });
  }
  void max(std::span<std::int64_t> values) override
  {
    reduce(values, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  }

  void broadcast(void *data, std::size_t bytes, int root) override
  {
    std::unique_lock lock(hub_.mutex);
    hub_.board[static_cast<std::size_t>(rank_)] = data;
    hub_.meet(lock, [&] {
      const void *source = hub_.board[static_cast<std::size_t>(root)];
      for (void *target : hub_.board)
        if (target != source) std::memcpy(target, source, bytes);
    });
  }

 private:
  // The last rank to arrive folds all ranks' values in rank order, so every run gives the same
  // bits.
  template <class T, class Op>
  void reduce(std::span<T> values, Op op)
  {
    std::unique_lock lock(hub_.mutex);
    hub_.board[static_cast<std::size_t>(rank_)] = values.data();
    hub_.lengths[static_cast<std::size_t>(rank_)] = values.size_bytes();
    hub_.meet(lock, [&] {
      for (const std::size_t length : hub_.lengths)
        if (length != values.size_bytes())
          throw Error(
              {"virtual ranks reduce arrays of different lengths",
               std::to_string(length) + " and " + std::to_string(values.size_bytes()) + " bytes",
               "rank " + std::to_string(rank_), ""});
      for (std::size_t i = 0; i < values.size(); ++i) {
        T total = static_cast<T *>(hub_.board[0])[i];
        for (std::size_t r = 1; r < hub_.board.size(); ++r)
          total = op(total, static_cast<T *>(hub_.board[r])[i]);
        for (void *target : hub_.board) static_cast<T *>(target)[i] = total;
      }
    });
  }

  Hub &hub_;
  int rank_;
};

}    // namespace

void run_virtual_ranks(int size, const std::function<void(Communicator &)> &body)
{
  Hub hub(size);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&hub, &body, rank] {
      try {
        ThreadCommunicator communicator(hub, rank);
        body(communicator);
        std::lock_guard lock(hub.mutex);
        hub.ended[static_cast<std::size_t>(rank)] = true;
        hub.changed.notify_all();
      } catch (...) {
        std::lock_guard lock(hub.mutex);
        if (!hub.first_failure) hub.first_failure = std::current_exception();
        hub.failed = true;
        hub.changed.notify_all();
      }
    });
  for (std::thread &thread : threads) thread.join();
  if (hub.first_failure) std::rethrow_exception(hub.first_failure);
}

}    // namespace mlip_dd
