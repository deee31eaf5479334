#include "intercept/interception.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

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

}    // namespace

Interception *active_interception() { return t_active; }

Interception::Interception(HaloExchange &exchange, FeatureCache &cache, at::Tensor edge_index,
                           const InterceptionOptions &options)
    : exchange_(exchange),
      cache_(cache),
      options_(options),
      token_leaf_(at::empty({0}, at::TensorOptions().dtype(at::kDouble)).requires_grad_(true)),
      token_(token_leaf_)
{
  install_operator_handlers();
  const void *storage = storage_of(edge_index);
  known_.emplace(storage, Known{std::move(edge_index), IndexRole::both});
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
  if (!at::isIntegralType(index.scalar_type(), /*includeBool=*/false)) return IndexRole::unknown;
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
  if (!copy.has_storage() || storage_of(copy) == storage_of(source)) return copy;
  const IndexRole role = role_of(source);
  if (role == IndexRole::unknown || !at::isIntegralType(copy.scalar_type(), false)) return copy;
  at::Tensor followed = copy;
  if (role == IndexRole::both) {
    // A copy of both rows can be followed only where it keeps the layout [2, E].
    if (copy.dim() != 2 || copy.size(0) != 2 || !copy.is_contiguous()) return copy;
    if (copy.numel() == 0) followed = empty_edge_index(0, copy.options());
  }
  known_.insert_or_assign(storage_of(followed), Known{followed, role});
  return followed;
}

bool Interception::is_node_tensor(const at::Tensor &operand, std::int64_t dimension) const
{
  return dimension < operand.dim() && operand.size(dimension) == exchange_.plan().n_owned;
}

at::Tensor Interception::extend(const at::Tensor &operand, std::int64_t dimension)
{
  const std::size_t ordinal = gathers_++;
  const bool keep = options_.keep_constant_features && !operand.requires_grad();
  if (keep) {
    if (cache_.extended.size() <= ordinal) cache_.extended.resize(ordinal + 1);
    if (cache_.extended[ordinal].defined()) return cache_.extended[ordinal];
  }
  const at::Tensor rows_first = operand.movedim(dimension, 0);
  at::Tensor extended;
  if (operand.requires_grad()) {
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
