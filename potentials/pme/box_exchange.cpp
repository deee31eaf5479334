#include "potentials/pme/box_exchange.h"

#include <algorithm>
#include <chrono>

namespace mlip_dd {

namespace {

// Points along one axis that two boxes share, as places inside `mine`; both sides list them in the
// order of the mesh, so that they agree on the order of a message.
std::vector<int> shared_places(int size, int my_start, int my_count, int start, int count)
{
  std::vector<int> places;
  for (int point = 0; point < size; ++point) {
    const int place = (point - my_start % size + size) % size;
    const int other = (point - start % size + size) % size;
    if (place < my_count && other < count) places.push_back(place);
  }
  return places;
}

}    // namespace

BoxExchange::BoxExchange(int rank, const std::array<int, 3> &size, const MeshBox &from,
                         std::span<const RankBox> targets, const MeshBox &to,
                         std::span<const RankBox> sources)
    : rank_(rank)
{
  const auto list = [&size](Side &side, const MeshBox &mine, std::span<const RankBox> others) {
    side.count = mine.count;
    for (const RankBox &other : others) {
      Part part{other.rank, {}};
      for (std::size_t a = 0; a < 3; ++a)
        part.places[a] = shared_places(size[a], mine.start[a], mine.count[a], other.box.start[a],
                                       other.box.count[a]);
      if (part.points() > 0) side.parts.push_back(std::move(part));
    }
    std::sort(side.parts.begin(), side.parts.end(),
              [](const Part &a, const Part &b) { return a.rank < b.rank; });
  };
  list(from_, from, targets);
  list(to_, to, sources);
}

template <class Body>
void BoxExchange::for_each_point(const Part &part, const std::array<int, 3> &count, Body body)
{
  for (const int x : part.places[0])
    for (const int y : part.places[1]) {
      const std::int64_t line = (static_cast<std::int64_t>(x) * count[1] + y) * count[2];
      for (const int z : part.places[2]) body(static_cast<std::size_t>(line + z));
    }
}

void BoxExchange::pack(Side &side, int width, std::span<const double> values)
{
  std::int64_t points = 0;
  for (const Part &part : side.parts) points += part.points();
  const auto w = static_cast<std::size_t>(width);
  side.buffer.resize(static_cast<std::size_t>(points) * w);
  double *out = side.buffer.data();
  for (const Part &part : side.parts)
    for_each_point(part, side.count, [&](std::size_t point) {
      for (std::size_t k = 0; k < w; ++k) *out++ = values[point * w + k];
    });
}

template <bool Add>
void BoxExchange::unpack(const Side &side, int width, std::span<double> values)
{
  const auto w = static_cast<std::size_t>(width);
  const double *in = side.buffer.data();
  for (const Part &part : side.parts)
    for_each_point(part, side.count, [&](std::size_t point) {
      for (std::size_t k = 0; k < w; ++k) {
        double &value = values[point * w + k];
        value = Add ? value + *in : *in;
        ++in;
      }
    });
}

void BoxExchange::transfer(Communicator &communicator, int width, Side &sender, Side &receiver,
                           Traffic &traffic)
{
  const auto start = std::chrono::steady_clock::now();
  std::int64_t points = 0;
  for (const Part &part : receiver.parts) points += part.points();
  receiver.buffer.resize(static_cast<std::size_t>(points * width));
  const auto messages = [&](Side &side, bool sending) {
    std::vector<Message> list;
    std::size_t begin = 0;
    for (const Part &part : side.parts) {
      const auto count = static_cast<std::size_t>(part.points() * width);
      if (part.rank != rank_) {
        list.push_back({part.rank, side.buffer.data() + begin, count * sizeof(double)});
        if (sending) {
          ++traffic.messages_sent;
          traffic.bytes_sent += static_cast<std::int64_t>(count * sizeof(double));
        }
      }
      begin += count;
    }
    return list;
  };
  const std::vector<Message> sends = messages(sender, true), receives = messages(receiver, false);
  // What stays on this rank.
  const auto own = [this, width](Side &side) -> std::span<double> {
    std::size_t begin = 0;
    for (const Part &part : side.parts) {
      const auto count = static_cast<std::size_t>(part.points() * width);
      if (part.rank == rank_) return std::span(side.buffer).subspan(begin, count);
      begin += count;
    }
    return {};
  };
  const std::span<double> kept = own(sender);
  std::copy(kept.begin(), kept.end(), own(receiver).begin());
  if (!sends.empty() || !receives.empty()) communicator.exchange(sends, receives);
  traffic.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void BoxExchange::add(Communicator &communicator, int width, std::span<const double> from,
                      std::span<double> to, Traffic &traffic)
{
  pack(from_, width, from);
  transfer(communicator, width, from_, to_, traffic);
  unpack<true>(to_, width, to);
}

void BoxExchange::give_back(Communicator &communicator, int width, std::span<const double> to,
                            std::span<double> from, Traffic &traffic)
{
  pack(to_, width, to);
  transfer(communicator, width, to_, from_, traffic);
  unpack<false>(from_, width, from);
}

}    // namespace mlip_dd
