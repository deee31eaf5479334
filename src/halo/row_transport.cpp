#include "halo/row_transport.h"

#include <ATen/ops/empty.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <vector>

namespace mlip_dd {

namespace {

std::vector<Message> messages(const at::Tensor &rows, std::span<const PeerRange> peers)
{
  std::int64_t row_bytes = rows.element_size();
  for (std::int64_t d = 1; d < rows.dim(); ++d) row_bytes *= rows.size(d);
  std::vector<Message> list;
  list.reserve(peers.size());
  for (const PeerRange &peer : peers)
    list.push_back({peer.rank, static_cast<char *>(rows.data_ptr()) + peer.begin * row_bytes,
                    static_cast<std::size_t>(peer.count * row_bytes)});
  return list;
}

c10::Stream current_stream(const c10::Device &device)
{
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

}    // namespace

// Made once, kept between steps, and larger only when rows are more than ever before.
struct RowTransport::Staging {
  explicit Staging(c10::DeviceType type) : filled(type), emptied(type) {}

  // A view of `buffer` as what `like` is, in pinned memory.
  static at::Tensor view(at::Tensor &buffer, const at::Tensor &like)
  {
    const std::int64_t bytes = like.numel() * like.element_size();
    if (!buffer.defined() || buffer.numel() < bytes) {
      const std::int64_t half_more = buffer.defined() ? buffer.numel() + buffer.numel() / 2 : 0;
      buffer = at::empty({std::max(bytes, half_more)},
                         at::TensorOptions().dtype(at::kByte).pinned_memory(true));
    }
    return buffer.narrow(0, 0, bytes).view(like.scalar_type()).view(like.sizes());
  }

  at::Tensor send, receive;      // bytes
  at::Tensor sending;            // the part of `send` in use
  c10::Event filled, emptied;    // rows to send are there; rows received have left `receive`
};

RowTransport::RowTransport(Communicator &communicator) : communicator_(communicator) {}
RowTransport::~RowTransport() = default;

void RowTransport::start(const at::Tensor &send)
{
  send_ = send;
  if (send.is_cpu()) return;
  if (!staging_) staging_ = std::make_unique<Staging>(send.device().type());
  if (path_ == MessagePath::host) {
    staging_->sending = Staging::view(staging_->send, send);
    staging_->sending.copy_(send, /*non_blocking=*/true);
  }
  // MPI reads, and may write, when all that was enqueued so far is done; what comes later can go
  // on.
  staging_->filled.record(current_stream(send.device()));
}

void RowTransport::finish(std::span<const PeerRange> send_to, at::Tensor &receive,
                          std::span<const PeerRange> receive_from)
{
  const at::Tensor send = std::move(send_);
  if (send.is_cpu()) {
    communicator_.exchange(messages(send, send_to), messages(receive, receive_from));
    return;
  }
  staging_->filled.synchronize();
  if (path_ == MessagePath::device) {
    communicator_.exchange(messages(send, send_to), messages(receive, receive_from));
    return;
  }
  staging_->emptied.synchronize();    // at once where nothing was received before
  const at::Tensor received = Staging::view(staging_->receive, receive);
  communicator_.exchange(messages(staging_->sending, send_to), messages(received, receive_from));
  receive.copy_(received, /*non_blocking=*/true);
  staging_->emptied.record(current_stream(receive.device()));
}

}    // namespace mlip_dd
