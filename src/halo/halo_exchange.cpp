#include "halo/halo_exchange.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <chrono>
#include <sstream>
#include <string>
#include <utility>

#include "base/error.h"

namespace mlip_dd {

namespace {

at::Tensor to_tensor(std::vector<std::int64_t> &values, const at::Device &device)
{
  return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, at::kLong)
      .to(device, at::kLong, /*non_blocking=*/false, /*copy=*/true);
}

void require_rows(const at::Tensor &rows, std::int64_t expected, const char *call)
{
  if (rows.dim() > 0 && rows.size(0) == expected) return;
  std::ostringstream shape;
  shape << "shape " << rows.sizes();
  throw Error(
      {std::string(call) + " expects " + std::to_string(expected) + " rows", shape.str(), "", ""});
}

}    // namespace

void HaloExchange::set_plan(HaloPlan plan)
{
  plan_ = std::move(plan);
  index_ = {};
}

const HaloExchange::DeviceIndex &HaloExchange::index_on(const at::Device &device)
{
  if (!index_.copy_rows.defined() || index_.copy_rows.device() != device) {
    index_.copy_rows = to_tensor(plan_.copy_rows, device);
    index_.sums = {to_tensor(plan_.sum_rows, device), to_tensor(plan_.sum_offsets, device),
                   to_tensor(plan_.sum_entries, device)};
  }
  return index_;
}

at::Tensor HaloExchange::gather(const at::Tensor &owned)
{
  require_rows(owned, plan_.n_owned, "gather");
  ++traffic_.gathers;
  if (plan_.isolated()) return owned;
  const at::Tensor source = owned.detach().contiguous();
  auto shape = source.sizes().vec();
  shape[0] = static_cast<std::int64_t>(plan_.copy_rows.size());
  at::Tensor packed = at::empty(shape, source.options());
  pack_rows(source, index_on(source.device()).copy_rows, packed);
  shape[0] = plan_.n_rows();
  at::Tensor rows = at::empty(shape, source.options());
  rows.narrow(0, 0, plan_.n_owned).copy_(source);
  at::Tensor halo = rows.narrow(0, plan_.n_owned, plan_.n_halo);
  transfer(packed, plan_.copy_peers, halo, plan_.halo_peers);
  return rows;
}

at::Tensor HaloExchange::scatter(const at::Tensor &rows)
{
  require_rows(rows, plan_.n_rows(), "scatter");
  ++traffic_.scatters;
  if (plan_.isolated()) return rows;
  const at::Tensor source = rows.detach().contiguous();
  auto shape = source.sizes().vec();
  shape[0] = static_cast<std::int64_t>(plan_.copy_rows.size());
  at::Tensor received = at::empty(shape, source.options());
  transfer(source.narrow(0, plan_.n_owned, plan_.n_halo), plan_.halo_peers, received,
           plan_.copy_peers);
  at::Tensor owned = source.narrow(0, 0, plan_.n_owned).clone();
  add_segments(owned, received, index_on(source.device()).sums);
  return owned;
}

void HaloExchange::transfer(const at::Tensor &send, std::span<const PeerRange> send_to,
                            at::Tensor &receive, std::span<const PeerRange> receive_from)
{
  const auto start = std::chrono::steady_clock::now();
  // MPI sees host memory; the copies wait for the device, so the message holds what was packed.
  const at::Tensor host_send = send.cpu();
  at::Tensor host_receive =
      receive.is_cpu() ? receive : at::empty(receive.sizes(), receive.options().device(at::kCPU));
  const auto row_bytes = [](const at::Tensor &rows) {
    std::int64_t bytes = rows.element_size();
    for (std::int64_t d = 1; d < rows.dim(); ++d) bytes *= rows.size(d);
    return bytes;
  };
  const auto messages = [](const at::Tensor &rows, std::span<const PeerRange> peers,
                           std::int64_t bytes) {
    std::vector<Message> list;
    list.reserve(peers.size());
    for (const PeerRange &peer : peers)
      list.push_back({peer.rank, static_cast<char *>(rows.data_ptr()) + peer.begin * bytes,
                      static_cast<std::size_t>(peer.count * bytes)});
    return list;
  };
  const std::int64_t bytes = row_bytes(host_send);
  communicator_.exchange(messages(host_send, send_to, bytes),
                         messages(host_receive, receive_from, bytes));
  if (!receive.is_cpu()) receive.copy_(host_receive);
  traffic_.messages_sent += static_cast<std::int64_t>(send_to.size());
  traffic_.bytes_sent += host_send.numel() * host_send.element_size();
  traffic_.seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}    // namespace mlip_dd
