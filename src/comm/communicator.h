// What the halo and the consolidation need from a set of ranks, and nothing more: point-to-point
// messages between known partners, discovery of unknown ones, and small sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace mlip_dd {

// One message of known length. `data` is only read when sent and only written when received.
struct Message {
  int rank = 0;
  void *data = nullptr;
  std::size_t bytes = 0;
};

// A message whose arrival the receiver could not know of.
struct Parcel {
  int rank = 0;
  std::vector<std::int64_t> values;
};

// Whether messages may lie in the memory of a GPU.
enum class GpuSupport { no, unknown, yes };
struct GpuMessages {
  GpuSupport support = GpuSupport::no;
  std::string reason;    // who says so, for the log
};

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Sends and receives all messages and returns when all are done. Called by the ranks that share
  // messages; a rank with none may call it or not. Between two ranks, messages are matched in the
  // order of the calls. At most one message to and from each rank per call; never to oneself.
  virtual void exchange(std::span<const Message> sends, std::span<const Message> receives) = 0;

  // Not collective; what is known without trying.
  virtual GpuMessages gpu_messages() const { return {GpuSupport::no, "ranks of one process"}; }

  // Collective. Each rank sends parcels to any ranks (itself included) and gets what was sent to
  // it, ordered by sender's rank.
  virtual std::vector<Parcel> deliver(std::span<const Parcel> parcels) = 0;

  // Collective. Element-wise over all ranks, in place; the same bits on every rank.
  virtual void sum(std::span<double> values) = 0;
  virtual void sum(std::span<std::int64_t> values) = 0;
  virtual void max(std::span<std::int64_t> values) = 0;

  // Collective. `bytes` of `root` are copied to every rank's `data`.
  virtual void broadcast(void *data, std::size_t bytes, int root) = 0;
};

// One rank, no messages.
std::unique_ptr<Communicator> make_self_communicator();

}    // namespace mlip_dd
