// Gives the node gathers of an unmodified torch model their halo semantics: while a forward runs,
// its gather and scatter operators pass through here, above autograd.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "halo/halo_exchange.h"
#include "halo/system_sums.h"

namespace torch::autograd {
struct Node;
}

namespace mlip_dd {

// Feature tensors and sums that depend on types alone, kept between reneighbourings. Cleared by the
// owner when rows or the plan change.
struct FeatureCache {
  std::vector<at::Tensor>
      extended;                    // by the ordinal of the gather in the forward; undefined: none
  std::vector<at::Tensor> sums;    // by the ordinal of the system sum; undefined: none
  void clear()
  {
    extended.clear();
    sums.clear();
  }
};

class OpAdapters;

// What an index tensor counts.
enum class IndexRole {
  unknown,
  receivers,
  senders,
  both,                // receivers in one row, senders in the other
  systems,             // the system of each row that the rank holds
  selected_systems,    // the system of some rows, in an order of the model's own
  edge_systems,        // the system of each edge
  derived              // numbers computed from one of these: whose rows they count is not known
};

// True for indices that may name rows of other ranks.
inline bool may_count_halo_rows(IndexRole role)
{
  return role == IndexRole::senders || role == IndexRole::both;
}

// Which rows the model's node tensors hold while it runs.
enum class RowStorage {
  owned,     // owned rows; a gather by sender is extended by the halo rows
  padded,    // owned and halo rows; a gather by sender reads halo rows from their owners
  local      // owned and halo rows, all computed by this rank: nothing is exchanged by edges, and
             // sums by sender are refused
};

struct InterceptionOptions {
  int receiver_row = 0;    // row of edge_index with the receivers
  // Features without a gradient depend on types alone and may be kept in the cache.
  bool keep_constant_features = false;
  RowStorage storage = RowStorage::owned;
  // The int64 `batch` given to the model, by which sums over systems are known; undefined: they
  // stay this rank's own.
  at::Tensor batch;
  // Needed where there is a `batch`, or an adapter sums.
  SystemSums *sums = nullptr;
  // Operators whose meaning the spec states; null: none.
  const OpAdapters *adapters = nullptr;
  // Note reductions over all rows, for require_no_reduction(). Once per model is enough.
  bool check_reductions = false;
};

// Owned storage: node tensors hold owned rows only. A gather whose index is the sender row of
// edge_index (or a view, copy, cast, selection or rearrangement of it) sees its operand extended by
// the halo rows, fetched from their owners; its adjoint is recorded. A sum by such an index is made
// over owned and halo rows, and the halo rows' are added into their owners. Everything else runs
// untouched, but an index computed from senders is refused.
//
// Padded storage: the same, but node tensors hold halo rows too, whose own values go no further: no
// edge ends there, and what is gathered by sender comes from the owners. So they never hold a
// gradient, and a total that a model takes over all its rows has the gradient of the owned ones.
// Where features without a gradient depend on types alone, the rank's own halo rows are right.
//
// System sums, in each storage: adding rows into the one row of the system by `batch` (or what the
// model made of it by copies, casts, selections and gathers) counts owned rows only and is summed
// over ranks. Other reductions by `batch` are refused.
//
// One object per forward. Collective in the sense of HaloExchange: every rank with shared rows runs
// the same forward.
class Interception {
 public:
  // `edge_index` is the int64 [2, E] tensor given to the model; with E = 0 its two rows must still
  // start at different storage offsets (make_edge_index does so). References are kept.
  Interception(HaloExchange &exchange, FeatureCache &cache, at::Tensor edge_index,
               const InterceptionOptions &options);

  // Interception is on in this thread between enter() and leave(); see InterceptionGuard.
  void enter();
  void leave() noexcept;

  // Give `token_root` to the engine as a root beside the energy (with an empty gradient), and
  // `token_leaf` as an input: then every rank runs every adjoint.
  const at::Tensor &token_leaf() const { return token_leaf_; }
  const at::Tensor &token_root() const { return token_; }

  // Throws Error when `output` depends on a reduction over all rows that was not by `batch`.
  void require_no_reduction(const at::Tensor &output) const;

  // For the operator handlers.
  bool first_dimension_is_rows(const at::Tensor &operand) const;
  void note_reduction(const at::Tensor &result, const std::string &op);
  IndexRole role_of(const at::Tensor &index) const;
  // The tensor to use for `copy`, made from `source` by an operator that keeps what the indices
  // count: `copy` itself, from now on known by source's role, or an equal tensor whose rows can be
  // told apart.
  at::Tensor follow(const at::Tensor &copy, const at::Tensor &source);
  at::Tensor follow(const at::Tensor &copy, const at::Tensor &source, IndexRole role);
  // As follow, for a tensor whose entries are no copy: `role` is not `both`.
  at::Tensor mark(const at::Tensor &made, IndexRole role);
  std::int64_t node_rows() const;    // of the model's node tensors
  bool is_node_tensor(const at::Tensor &operand, std::int64_t dimension) const;
  at::Tensor extend(const at::Tensor &operand, std::int64_t dimension);
  // [..., n_owned + n_halo, ...] -> [..., n_owned, ...]: halo rows added into their owners.
  at::Tensor fold(const at::Tensor &rows, std::int64_t dimension);
  // [n_owned + n_halo, ...], what this rank adds to each row -> the same rows with the sums over
  // all ranks, on owners and halo rows alike.
  at::Tensor correct(const at::Tensor &partial_sums);
  const InterceptionOptions &options() const { return options_; }
  const HaloPlan &plan() const { return exchange_.plan(); }
  // The receiver row of edge_index.
  at::Tensor receivers() const;
  // The sum over ranks of a value of the system, recorded for the backward; see system_sum.
  at::Tensor sum_over_ranks(const at::Tensor &local, bool replicated_consumer = false);

 private:
  struct Known {
    at::Tensor keep_alive;    // so that the address cannot be reused while we know it
    IndexRole role;
  };

  HaloExchange &exchange_;
  FeatureCache &cache_;
  InterceptionOptions options_;
  at::Tensor edge_index_;
  std::unordered_map<const void *, Known> known_;    // by storage
  at::Tensor token_leaf_;
  at::Tensor token_;
  std::size_t gathers_ = 0;
  std::size_t sums_ = 0;
  std::vector<std::pair<std::shared_ptr<torch::autograd::Node>, std::string>> reductions_;
};

class InterceptionGuard {
 public:
  explicit InterceptionGuard(Interception &interception) : interception_(interception)
  {
    interception_.enter();
  }
  ~InterceptionGuard() { interception_.leave(); }
  InterceptionGuard(const InterceptionGuard &) = delete;
  InterceptionGuard &operator=(const InterceptionGuard &) = delete;

 private:
  Interception &interception_;
};

// An uninitialised [2, edges] tensor whose rows can be told apart by storage offset even when edges
// = 0.
at::Tensor empty_edge_index(std::int64_t edges, const at::TensorOptions &options);

// An int64 [2, E] tensor on the CPU with `first` in row 0 and `second` in row 1, made as above.
at::Tensor make_edge_index(const std::vector<std::int64_t> &first,
                           const std::vector<std::int64_t> &second);

}    // namespace mlip_dd
