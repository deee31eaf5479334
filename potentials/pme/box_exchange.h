// Moves parts of a three-dimensional mesh between ranks that hold it in different boxes: patches
// around their atoms, or the blocks of a distributed transform. No torch.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "halo/traffic.h"

namespace mlip_dd {

// Points [start, start + count) along each axis, in row-major order. A patch may run over the end
// of the periodic mesh; its points count modulo the mesh's size.
struct MeshBox {
  std::array<int, 3> start{};
  std::array<int, 3> count{};
  std::int64_t points() const { return static_cast<std::int64_t>(count[0]) * count[1] * count[2]; }
};

// A box of another rank that shares points with one of this rank.
struct RankBox {
  int rank = 0;
  MeshBox box;
};

class BoxExchange {
 public:
  BoxExchange() = default;

  // Not collective. `from` and `to` are this rank's boxes before and after the exchange, `targets`
  // the boxes of ranks after it, `sources` those before it; ranks whose boxes share no points may
  // be left out, this rank may be in both. `size` is the periodic mesh's.
  BoxExchange(int rank, const std::array<int, 3> &size, const MeshBox &from,
              std::span<const RankBox> targets, const MeshBox &to,
              std::span<const RankBox> sources);

  // Every rank of the exchange calls; those without shared points may. Each point holds `width`
  // doubles. Values that arrive at one point are added in the order of ranks to what is there.
  void add(Communicator &communicator, int width, std::span<const double> from,
           std::span<double> to, Traffic &traffic);

  // As add(), where each point of `to` comes from one rank, and replaces what is there.
  void move(Communicator &communicator, int width, std::span<const double> from,
            std::span<double> to, Traffic &traffic);

  // The same backwards: what add() would send from A to B goes from B to A and replaces what is
  // there.
  void give_back(Communicator &communicator, int width, std::span<const double> to,
                 std::span<double> from, Traffic &traffic);

 private:
  // Points that follow one another along the last axis.
  struct Run {
    int place = 0;
    int count = 0;
  };
  struct Part {
    int rank = 0;
    std::array<std::vector<int>, 2> places;    // along the first axes, inside this rank's box
    std::vector<Run> runs;                     // along the last
    std::int64_t points = 0;
  };
  struct Side {
    std::array<int, 3> count{};
    std::vector<Part> parts;
    std::vector<double>
        buffer;    // parts one after the other; this rank's own is read by both sides
  };
  template <class Body>
  static void for_each_run(const Part &part, const std::array<int, 3> &count, Body body);
  static void pack(Side &side, int width, std::span<const double> values);
  // The buffers' values for each part of `to`: what arrived, or what this rank itself packed.
  template <bool Add>
  void unpack(const Side &to, const Side &from, int width, std::span<double> values) const;
  void transfer(Communicator &communicator, int width, Side &sender, Side &receiver,
                Traffic &traffic);

  int rank_ = 0;
  Side from_, to_;
};

}    // namespace mlip_dd
