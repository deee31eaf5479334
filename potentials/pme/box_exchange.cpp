#include "potentials/pme/box_exchange.h"

#include <algorithm>

#include "base/timer.h"

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
      const auto shared = [&](std::size_t a) {
        return shared_places(size[a], mine.start[a], mine.count[a], other.box.start[a],
                             other.box.count[a]);
      };
      Part part{other.rank, {shared(0), shared(1)}, {}, 0};
      const std::vector<int> last = shared(2);
      for (const int place : last)
        if (!part.runs.empty() && part.runs.back().place + part.runs.back().count == place)
          ++part.runs.back().count;
        else
          part.runs.push_back({place, 1});
      part.points =
          static_cast<std::int64_t>(part.places[0].size() * part.places[1].size() * last.size());
      if (part.points > 0) side.parts.push_back(std::move(part));
    }
    std::sort(side.parts.begin(), side.parts.end(),
              [](const Part &a, const Part &b) { return a.rank < b.rank; });
  };
  list(from_, from, targets);
  list(to_, to, sources);
}

template <class Body>
void BoxExchange::for_each_run(const Part &part, const std::array<int, 3> &count, Body body)
{
  for (const int x : part.places[0])
    for (const int y : part.places[1]) {
      const std::int64_t line = (static_cast<std::int64_t>(x) * count[1] + y) * count[2];
      for (const Run &run : part.runs) body(line + run.place, run.count);
    }
}

void BoxExchange::pack(Side &side, int width, std::span<const double> values)
{
  std::int64_t points = 0;
  for (const Part &part : side.parts) points += part.points;
  side.buffer.resize(static_cast<std::size_t>(points * width));
  double *out = side.buffer.data();
  for (const Part &part : side.parts)
    for_each_run(part, side.count, [&](std::int64_t point, std::int64_t count) {
      out = std::copy_n(values.data() + point * width, count * width, out);
    });
}

template <bool Add>
void BoxExchange::unpack(const Side &to, const Side &from, int width,
                         std::span<double> values) const
{
  std::int64_t own = 0, begin = 0;
  for (const Part &part : from.parts) {
    if (part.rank == rank_) own = begin;
    begin += part.points * width;
  }
  begin = 0;
  for (const Part &part : to.parts) {
    const double *in = part.rank == rank_ ? from.buffer.data() + own : to.buffer.data() + begin;
    for_each_run(part, to.count, [&](std::int64_t point, std::int64_t count) {
      double *out = values.data() + point * width;
      if constexpr (Add)
        for (std::int64_t k = 0; k < count * width; ++k) out[k] += in[k];
      else
        std::copy_n(in, count * width, out);
      in += count * width;
    });
    begin += part.points * width;
  }
}

void BoxExchange::transfer(Communicator &communicator, int width, Side &sender, Side &receiver,
                           Traffic &traffic)
{
  const Timer timer(traffic.seconds);
  std::int64_t points = 0;
  for (const Part &part : receiver.parts) points += part.points;
  receiver.buffer.resize(static_cast<std::size_t>(points * width));
  const auto messages = [&](Side &side, bool sending) {
    std::vector<Message> list;
    std::size_t begin = 0;
    for (const Part &part : side.parts) {
      const auto count = static_cast<std::size_t>(part.points * width);
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
  if (!sends.empty() || !receives.empty()) communicator.exchange(sends, receives);
}

void BoxExchange::add(Communicator &communicator, int width, std::span<const double> from,
                      std::span<double> to, Traffic &traffic)
{
  pack(from_, width, from);
  transfer(communicator, width, from_, to_, traffic);
  unpack<true>(to_, from_, width, to);
}

void BoxExchange::move(Communicator &communicator, int width, std::span<const double> from,
                       std::span<double> to, Traffic &traffic)
{
  pack(from_, width, from);
  transfer(communicator, width, from_, to_, traffic);
  unpack<false>(to_, from_, width, to);
}

void BoxExchange::give_back(Communicator &communicator, int width, std::span<const double> to,
                            std::span<double> from, Traffic &traffic)
{
  pack(to_, width, to);
  transfer(communicator, width, to_, from_, traffic);
  unpack<false>(from_, to_, width, from);
}

}    // namespace mlip_dd
