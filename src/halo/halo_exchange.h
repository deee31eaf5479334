// Moves rows of tensors between ranks as a HaloPlan says: gather (owners to halo rows) and scatter
// (halo rows added into owners), each the other's adjoint, and one after the other as the
// correction of partial sums; plain and under autograd.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "comm/communicator.h"
#include "halo/halo_plan.h"
#include "halo/row_kernels.h"
#include "halo/row_transport.h"
#include "halo/traffic.h"

namespace mlip_dd {

// Every rank of the plan makes the same calls in the same order; a rank whose plan is isolated may
// skip them. Tensors are [rows, ...] of any dtype and trailing shape, which must agree between
// ranks.
class HaloExchange {
 public:
  // Keeps a reference to `communicator`.
  explicit HaloExchange(Communicator &communicator)
      : communicator_(communicator), transport_(communicator)
  {}

  void set_plan(HaloPlan plan);
  const HaloPlan &plan() const { return plan_; }
  Communicator &communicator() { return communicator_; }

  // How rows of a GPU travel; the default is through the host.
  void set_message_path(MessagePath path) { transport_.set_path(path); }

  // [n_owned, ...] -> [n_owned + n_halo, ...]: owned rows, then copies of remote rows. No autograd.
  at::Tensor gather(const at::Tensor &owned);

  // [n_owned + n_halo, ...] -> [n_owned, ...]: owned rows plus what all ranks hold for them. Fixed
  // order of summation, float64 accumulation for floating types. No autograd.
  at::Tensor scatter(const at::Tensor &rows);

  // Scatter correction: [n_owned + n_halo, ...] -> the same shape, gather(scatter(rows)). `rows`
  // are partial sums, what this rank adds to each row; the result has the sums over all ranks, on
  // owners and halo rows alike. Not to be repeated: sums that are complete already grow by their
  // copies. No autograd.
  at::Tensor correct(const at::Tensor &rows);

  const Traffic &traffic() const { return traffic_; }
  void reset_traffic() { traffic_ = {}; }

 private:
  struct DeviceIndex {
    at::Tensor copy_rows;
    SegmentIndex sums;
  };
  const DeviceIndex &index_on(const at::Device &device);

  // Ends what transport_.start(sent) began.
  void arrive(const at::Tensor &sent, std::span<const PeerRange> send_to, at::Tensor &receive,
              std::span<const PeerRange> receive_from);

  Communicator &communicator_;
  RowTransport transport_;
  HaloPlan plan_;
  DeviceIndex index_;
  Traffic traffic_;
};

// Autograd forms. `token` chains the exchanges of one evaluation: each call takes the token the one
// before returned, so that backward runs the adjoints in the reverse order on every rank, also
// where a rank's own graph would not need them. The token is an empty tensor; start with one that
// requires grad, and give the last one to the engine as a root beside the energy (seed: an empty
// tensor).
struct Chained {
  at::Tensor rows;
  at::Tensor token;
};

// Differentiable gather; its backward is a scatter. `exchange` must outlive the backward.
Chained gather_rows(HaloExchange &exchange, const at::Tensor &owned, const at::Tensor &token);

// Differentiable scatter; its backward is a gather.
Chained scatter_rows(HaloExchange &exchange, const at::Tensor &rows, const at::Tensor &token);

// Differentiable scatter correction; it is self-adjoint, so its backward is the same.
Chained correct_rows(HaloExchange &exchange, const at::Tensor &rows, const at::Tensor &token);

}    // namespace mlip_dd
