// Carries packed rows to other ranks and theirs back, from the device on which tensors lie.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <span>

#include "comm/communicator.h"
#include "halo/halo_plan.h"
#include "halo/message_path.h"

namespace mlip_dd {

class RowTransport {
 public:
  // Keeps a reference to `communicator`.
  explicit RowTransport(Communicator &communicator);
  ~RowTransport();
  RowTransport(const RowTransport &) = delete;
  RowTransport &operator=(const RowTransport &) = delete;

  // Of tensors on a GPU. Both give the same bits.
  void set_path(MessagePath path) { path_ = path; }

  // `send` [K, ...] is filled by work enqueued on the current stream, and the tensor to receive
  // into has been made. What is enqueued between start and finish runs while the messages travel;
  // it must touch neither. Both contiguous, of one dtype and device.
  void start(const at::Tensor &send);

  // Collective as Communicator::exchange. Returns when `receive` [R, ...] may be read by work
  // enqueued on the current stream.
  void finish(std::span<const PeerRange> send_to, at::Tensor &receive,
              std::span<const PeerRange> receive_from);

 private:
  // Buffers of the CPU through which rows of a GPU travel, and the events that order the copies.
  struct Staging;

  Communicator &communicator_;
  MessagePath path_ = MessagePath::host;
  at::Tensor send_;
  std::unique_ptr<Staging> staging_;    // made with the first tensor on a GPU
};

}    // namespace mlip_dd
