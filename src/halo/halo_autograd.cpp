#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/variable.h>

#include "halo/halo_exchange.h"

namespace mlip_dd {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// The exchange outlives every graph that uses it (its owner also owns the evaluation), so the graph
// keeps a plain address.
void keep_exchange(AutogradContext *context, HaloExchange &exchange)
{
  context->saved_data["exchange"] = reinterpret_cast<std::int64_t>(&exchange);
}

HaloExchange &kept_exchange(AutogradContext *context)
{
  return *reinterpret_cast<HaloExchange *>(context->saved_data["exchange"].toInt());
}

struct GatherRows : Function<GatherRows> {
  static variable_list forward(AutogradContext *context, const at::Tensor &owned,
                               const at::Tensor &token, HaloExchange *exchange)
  {
    keep_exchange(context, *exchange);
    return {exchange->gather(owned), token.clone()};
  }

  static variable_list backward(AutogradContext *context, variable_list gradients)
  {
    return {kept_exchange(context).scatter(gradients[0]), gradients[1], at::Tensor()};
  }
};

struct ScatterRows : Function<ScatterRows> {
  static variable_list forward(AutogradContext *context, const at::Tensor &rows,
                               const at::Tensor &token, HaloExchange *exchange)
  {
    keep_exchange(context, *exchange);
    return {exchange->scatter(rows), token.clone()};
  }

  static variable_list backward(AutogradContext *context, variable_list gradients)
  {
    return {kept_exchange(context).gather(gradients[0]), gradients[1], at::Tensor()};
  }
};

}    // namespace

Chained gather_rows(HaloExchange &exchange, const at::Tensor &owned, const at::Tensor &token)
{
  if (exchange.plan().isolated()) return {exchange.gather(owned), token};
  variable_list results = GatherRows::apply(owned, token, &exchange);
  return {results[0], results[1]};
}

Chained scatter_rows(HaloExchange &exchange, const at::Tensor &rows, const at::Tensor &token)
{
  if (exchange.plan().isolated()) return {exchange.scatter(rows), token};
  variable_list results = ScatterRows::apply(rows, token, &exchange);
  return {results[0], results[1]};
}

}    // namespace mlip_dd
