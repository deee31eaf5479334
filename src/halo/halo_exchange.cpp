#include "halo/halo_exchange.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <sstream>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/timer.h"

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
  const Timer all(traffic_.seconds);
  const at::Tensor source = owned.detach().resolve_conj().resolve_neg().contiguous();
  auto shape = source.sizes().vec();
  shape[0] = static_cast<std::int64_t>(plan_.copy_rows.size());
  at::Tensor packed = at::empty(shape, source.options());
  shape[0] = plan_.n_rows();
  at::Tensor rows = at::empty(shape, source.options());
  at::Tensor halo = rows.narrow(0, plan_.n_owned, plan_.n_halo);
  {
    const Timer packing(traffic_.packing);
    pack_rows(source, index_on(source.device()).copy_rows, packed);
  }
  transport_.start(packed);
  // Halo rows are received in their places, and owned rows copied meanwhile.
  rows.narrow(0, 0, plan_.n_owned).copy_(source);
  arrive(packed, plan_.copy_peers, halo, plan_.halo_peers);
  return rows;
}

at::Tensor HaloExchange::scatter(const at::Tensor &rows)
{
  require_rows(rows, plan_.n_rows(), "scatter");
  ++traffic_.scatters;
  if (plan_.isolated()) return rows;
  const Timer all(traffic_.seconds);
  const at::Tensor source = rows.detach().resolve_conj().resolve_neg().contiguous();
  auto shape = source.sizes().vec();
  shape[0] = static_cast<std::int64_t>(plan_.copy_rows.size());
  at::Tensor received = at::empty(shape, source.options());
  const at::Tensor sent = source.narrow(0, plan_.n_owned, plan_.n_halo);
  transport_.start(sent);
  at::Tensor owned = source.narrow(0, 0, plan_.n_owned).clone();
  arrive(sent, plan_.halo_peers, received, plan_.copy_peers);
  const Timer packing(traffic_.packing);
  add_segments(owned, received, index_on(source.device()).sums);
  return owned;
}

at::Tensor HaloExchange::correct(const at::Tensor &rows) { return gather(scatter(rows)); }

void HaloExchange::arrive(const at::Tensor &sent, std::span<const PeerRange> send_to,
                          at::Tensor &receive, std::span<const PeerRange> receive_from)
{
  transport_.finish(send_to, receive, receive_from);
  traffic_.messages_sent += static_cast<std::int64_t>(send_to.size());
  traffic_.bytes_sent += sent.numel() * sent.element_size();
}

}    // namespace mlip_dd
