#include "intercept/system_reductions.h"

#include <ATen/ops/zeros_like.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "base/error.h"
#include "intercept/active.h"

namespace mlip_dd {

namespace {

// In what rows are added: as SystemSums does, so that one rank and many differ by round-off alone.
at::ScalarType sum_type(at::ScalarType type)
{
  if (at::isComplexType(type)) return at::kComplexDouble;
  if (at::isFloatingType(type)) return at::kDouble;
  return at::kLong;
}

// The entries of `rows` along `dimension` that this rank counts; the others are counted elsewhere.
at::Tensor counted(const Interception &interception, const OperatorHandle &op, IndexRole role,
                   const at::Tensor &rows, std::int64_t dimension)
{
  if (interception.options().storage == RowStorage::owned) return rows;
  const HaloPlan &plan = interception.plan();
  if (role == IndexRole::systems) {
    if (rows.size(dimension) != plan.n_rows())
      refuse_system_reduction(op, std::to_string(rows.size(dimension)) + " rows, of " +
                                      std::to_string(plan.n_rows()) + " atoms");
    return rows.narrow(dimension, 0, plan.n_owned);
  }
  const at::Tensor receivers = interception.receivers();
  if (role != IndexRole::edge_systems || rows.size(dimension) != receivers.size(0))
    refuse_system_reduction(op, "a selection of rows, whose owners are not known");
  return rows.index_select(dimension, receivers.lt(plan.n_owned).nonzero().squeeze(1));
}

}    // namespace

bool counts_systems(IndexRole role)
{
  return role == IndexRole::systems || role == IndexRole::selected_systems ||
         role == IndexRole::edge_systems;
}

void refuse_system_reduction(const OperatorHandle &op, const std::string &what)
{
  throw Error(
      {"a reduction over the atoms of a system cannot be split over ranks", what,
       toString(op.operator_name()),
       "Export a model that adds the rows of all atoms by `batch` into one row per system"});
}

void run_system_sum(Interception &interception, const OperatorHandle &op, Stack *stack,
                    IndexRole role, std::int64_t dimension, std::size_t index_position,
                    std::size_t source_position)
{
  const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
  const at::Tensor accumulator = tensor_argument(op, stack, 0);
  if (dimension >= accumulator.dim() || accumulator.size(dimension) != 1)
    refuse_system_reduction(
        op, "a result with " +
                std::to_string(dimension < accumulator.dim() ? accumulator.size(dimension) : 0) +
                " rows for one system");

  const at::ScalarType type = sum_type(accumulator.scalar_type());
  argument(op, stack, 0) = at::zeros_like(accumulator, type);
  c10::IValue &source = argument(op, stack, source_position);
  const at::Tensor rows = source.toTensor().to(type);
  c10::IValue &index = argument(op, stack, index_position);
  if (index.isTensor()) {
    const at::Tensor ids = index.toTensor();
    source = counted(interception, op, role, rows, dimension);
    index = counted(interception, op, role, ids, ids.dim() == 1 ? 0 : dimension);
  } else {
    // index_put: values may be one number for all rows.
    c10::List<std::optional<at::Tensor>> ids;
    const at::Tensor only = index.toListRef()[0].toTensor();
    ids.push_back(counted(interception, op, role, only, 0));
    source = rows.dim() > 0 && rows.size(0) == only.size(0)
                 ? counted(interception, op, role, rows, 0)
                 : rows;
    index = std::move(ids);
  }

  op.callBoxed(stack);
  const at::Tensor total =
      interception.sum_over_ranks(result_of(stack).toTensor()).to(accumulator.scalar_type());
  result_of(stack) = is_in_place(op) ? accumulator.add_(total) : accumulator.add(total);
}

void run_system_count(Interception &interception, const OperatorHandle &op, Stack *stack,
                      IndexRole role)
{
  const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
  if (!argument(op, stack, 1).isNone()) refuse_system_reduction(op, "weights");
  c10::IValue &ids = argument(op, stack, 0);
  ids = counted(interception, op, role, ids.toTensor(), 0);
  op.callBoxed(stack);
  const at::Tensor local = result_of(stack).toTensor();
  if (local.numel() != 1) refuse_system_reduction(op, std::to_string(local.numel()) + " systems");
  result_of(stack) = interception.sum_over_ranks(local);
}

}    // namespace mlip_dd
