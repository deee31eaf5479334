// Reductions over all atoms or edges that a model makes without saying of which system: a rank has
// only its own. They are noted while the forward runs, and refused if an output depends on one;
// many models also return totals, which nobody reads.
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "intercept/active.h"
#include "intercept/handlers.h"
#include "intercept/interception.h"

namespace mlip_dd {

namespace {

// Whether the operator reduces the first dimension.
bool reduces_rows(const OperatorHandle &op, Stack *stack, const at::Tensor &operand)
{
  const auto &arguments = op.schema().arguments();
  for (std::size_t k = 1; k < arguments.size(); ++k) {
    if (arguments[k].name() != "dim") continue;
    const c10::IValue &dim = argument(op, stack, k);
    if (dim.isNone()) return true;
    if (dim.isInt()) return wrapped(dim.toInt(), operand) == 0;
    const std::vector<std::int64_t> dims = dim.toIntVector();
    return dims.empty() || std::any_of(dims.begin(), dims.end(),
                                       [&](std::int64_t d) { return wrapped(d, operand) == 0; });
  }
  return true;
}

void on_reduction(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception || !interception->options().check_reductions) return call_below(op, stack);
  const at::Tensor operand = tensor_argument(op, stack, 0);
  const bool noted = operand.requires_grad() && interception->first_dimension_is_rows(operand) &&
                     reduces_rows(op, stack, operand);
  call_below(op, stack);
  if (noted)
    interception->note_reduction(
        torch::jit::peek(*stack, 0, op.schema().returns().size()).toTensor(),
        toString(op.operator_name()));
}

}    // namespace

bool Interception::first_dimension_is_rows(const at::Tensor &operand) const
{
  if (operand.dim() == 0) return false;
  const std::int64_t rows = node_rows();
  const auto is_row_count = [&](std::int64_t size) {
    // One row is as well the system's own.
    return size > 1 && (size == rows || size == edge_index_.size(1));
  };
  // Where another dimension has as many, the first may be anything.
  for (std::int64_t d = 1; d < operand.dim(); ++d)
    if (is_row_count(operand.size(d))) return false;
  return is_row_count(operand.size(0));
}

void Interception::note_reduction(const at::Tensor &result, const std::string &op)
{
  if (result.grad_fn()) reductions_.emplace_back(result.grad_fn(), op);
}

void Interception::require_no_reduction(const at::Tensor &output) const
{
  std::vector<torch::autograd::Node *> waiting;
  std::unordered_set<const torch::autograd::Node *> seen;
  const auto visit = [&](torch::autograd::Node *node) {
    if (node && seen.insert(node).second) waiting.push_back(node);
  };
  visit(output.grad_fn().get());
  while (!waiting.empty()) {
    const torch::autograd::Node *node = waiting.back();
    waiting.pop_back();
    for (const auto &[noted, op] : reductions_)
      if (noted.get() == node)
        throw Error(
            {"the model reduces over all its atoms or edges and goes on with the result, "
             "but a rank has only its own",
             "", op,
             "Export a model that adds rows by `batch` into one row per system; these are "
             "summed over ranks"});
    for (const torch::autograd::Edge &edge : node->next_edges()) visit(edge.function.get());
  }
}

void register_reductions(torch::Library &aten)
{
  for (const char *name : {"sum",
                           "sum.dim_IntList",
                           "mean",
                           "mean.dim",
                           "prod",
                           "prod.dim_int",
                           "max",
                           "min",
                           "max.dim",
                           "min.dim",
                           "amax",
                           "amin",
                           "logsumexp",
                           "linalg_vector_norm",
                           "norm.Scalar",
                           "norm.ScalarOpt_dim",
                           "var.correction",
                           "std.correction",
                           "dot",
                           "cumsum",
                           "_softmax"})
    aten.impl(name, boxed<&on_reduction>());
}

}    // namespace mlip_dd
