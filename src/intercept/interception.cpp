#include "intercept/interception.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/graph_task.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "intercept/active.h"

namespace mlip_dd {

namespace {

thread_local Interception *t_active = nullptr;

const void *storage_of(const at::Tensor &tensor)
{
  return tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
}

// Whether an exchange of this tensor has an adjoint.
bool records(const at::Tensor &tensor)
{
  return tensor.requires_grad() && c10::GradMode::is_enabled();
}

}    // namespace

// None while autograd's engine runs inside a forward that differentiates: what is recorded there is
// the adjoints themselves.
Interception *active_interception()
{
  return t_active && torch::autograd::get_current_graph_task_id() < 0 ? t_active : nullptr;
}

Interception::Interception(HaloExchange &exchange, FeatureCache &cache, at::Tensor edge_index,
                           const InterceptionOptions &options)
    : exchange_(exchange),
      cache_(cache),
      options_(options),
      edge_index_(edge_index),
      token_leaf_(at::empty({0}, at::TensorOptions().dtype(at::kDouble)).requires_grad_(true)),
      token_(token_leaf_)
{
  install_operator_handlers();
  const void *storage = storage_of(edge_index);
  known_.emplace(storage, Known{std::move(edge_index), IndexRole::both});
  if (options_.batch.defined())
    known_.emplace(storage_of(options_.batch), Known{options_.batch, IndexRole::systems});
}

void Interception::enter()
{
  if (t_active)
    throw Error({"a model was started while another one runs in the same thread", "", "", ""});
  t_active = this;
  c10::impl::tls_set_dispatch_key_included(kInterceptionKey, true);
}

void Interception::leave() noexcept
{
  t_active = nullptr;
  c10::impl::tls_set_dispatch_key_included(kInterceptionKey, false);
}

IndexRole Interception::role_of(const at::Tensor &index) const
{
  const auto found = known_.find(storage_of(index));
  if (found == known_.end()) return IndexRole::unknown;
  const Known &known = found->second;
  if (known.role != IndexRole::both) return known.role;

  // A view of [2, E]: which of its rows does it lie in?
  const std::int64_t row_stride = known.keep_alive.stride(0);
  const std::int64_t base = known.keep_alive.storage_offset();
  const std::int64_t first = index.storage_offset() - base;
  std::int64_t last = first;
  for (std::int64_t d = 0; d < index.dim(); ++d)
    if (index.size(d) > 0) last += (index.size(d) - 1) * index.stride(d);
  const std::int64_t row = first / row_stride;
  if (last / row_stride != row) return IndexRole::both;
  return row == options_.receiver_row ? IndexRole::receivers : IndexRole::senders;
}

at::Tensor Interception::follow(const at::Tensor &copy, const at::Tensor &source)
{
  return follow(copy, source, role_of(source));
}

at::Tensor Interception::follow(const at::Tensor &copy, const at::Tensor &source, IndexRole role)
{
  if (!copy.has_storage() || storage_of(copy) == storage_of(source)) return copy;
  if (role == IndexRole::unknown) return copy;
  if (role != IndexRole::both) return mark(copy, role);
  // A copy of both rows keeps them apart only in the layout [2, E]; else any entry may be a sender.
  if (copy.dim() != 2 || copy.size(0) != 2 || !copy.is_contiguous())
    return mark(copy, IndexRole::senders);
  const at::Tensor followed = copy.numel() == 0 ? empty_edge_index(0, copy.options()) : copy;
  known_.insert_or_assign(storage_of(followed), Known{followed, role});
  return followed;
}

at::Tensor Interception::mark(const at::Tensor &made, IndexRole role)
{
  if (made.has_storage()) known_.insert_or_assign(storage_of(made), Known{made, role});
  return made;
}

bool Interception::is_node_tensor(const at::Tensor &operand, std::int64_t dimension) const
{
  return dimension < operand.dim() && operand.size(dimension) == node_rows();
}

std::int64_t Interception::node_rows() const
{
  return options_.storage == RowStorage::owned ? plan().n_owned : plan().n_rows();
}

at::Tensor Interception::extend(const at::Tensor &operand, std::int64_t dimension)
{
  const std::size_t ordinal = gathers_++;
  const bool padded = options_.storage == RowStorage::padded;
  if (padded && options_.keep_constant_features && !operand.requires_grad()) return operand;
  const bool keep = options_.keep_constant_features && !operand.requires_grad();
  if (keep) {
    if (cache_.extended.size() <= ordinal) cache_.extended.resize(ordinal + 1);
    if (cache_.extended[ordinal].defined()) return cache_.extended[ordinal];
  }
  const at::Tensor rows_first = operand.movedim(dimension, 0).narrow(0, 0, plan().n_owned);
  at::Tensor extended;
  if (records(operand)) {
    Chained chained = gather_rows(exchange_, rows_first, token_);
    extended = chained.rows;
    token_ = chained.token;
  } else {
    extended = exchange_.gather(rows_first);
  }
  extended = extended.movedim(0, dimension);
  if (keep) cache_.extended[ordinal] = extended;
  return extended;
}

at::Tensor Interception::fold(const at::Tensor &rows, std::int64_t dimension)
{
  const at::Tensor rows_first = rows.movedim(dimension, 0);
  if (!records(rows)) return exchange_.scatter(rows_first).movedim(0, dimension);
  Chained chained = scatter_rows(exchange_, rows_first, token_);
  token_ = chained.token;
  return chained.rows.movedim(0, dimension);
}

at::Tensor Interception::correct(const at::Tensor &partial_sums)
{
  if (!records(partial_sums)) return exchange_.correct(partial_sums);
  Chained chained = correct_rows(exchange_, partial_sums, token_);
  token_ = chained.token;
  return chained.rows;
}

at::Tensor Interception::receivers() const { return edge_index_.select(0, options_.receiver_row); }

at::Tensor Interception::sum_over_ranks(const at::Tensor &local, bool replicated_consumer)
{
  const std::size_t ordinal = sums_++;
  const bool keep = options_.keep_constant_features && !local.requires_grad();
  if (keep) {
    if (cache_.sums.size() <= ordinal) cache_.sums.resize(ordinal + 1);
    if (!cache_.sums[ordinal].defined())
      cache_.sums[ordinal] = options_.sums->sum(local, /*constant=*/true);
    return cache_.sums[ordinal];
  }
  if (!records(local)) return options_.sums->sum(local);
  Chained chained = system_sum(*options_.sums, local, token_, replicated_consumer);
  token_ = chained.token;
  return chained.rows;
}

at::Tensor empty_edge_index(std::int64_t edges, const at::TensorOptions &options)
{
  return at::empty({2, std::max<std::int64_t>(edges, 1)}, options).narrow(1, 0, edges);
}

at::Tensor make_edge_index(const std::vector<std::int64_t> &first,
                           const std::vector<std::int64_t> &second)
{
  at::Tensor index = empty_edge_index(static_cast<std::int64_t>(first.size()),
                                      at::TensorOptions().dtype(at::kLong));
  auto *values = index.mutable_data_ptr<std::int64_t>();
  std::copy(first.begin(), first.end(), values);
  std::copy(second.begin(), second.end(), values + index.stride(0));
  return index;
}

}    // namespace mlip_dd
