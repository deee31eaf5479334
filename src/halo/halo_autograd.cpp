#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/variable.h>

#include "halo/halo_exchange.h"

namespace mlip_dd {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

using Exchanged = at::Tensor (HaloExchange::*)(const at::Tensor &);

// One direction of the exchange, differentiated by the other.
template <Exchanged forward_call, Exchanged adjoint_call>
struct ExchangeRows : Function<ExchangeRows<forward_call, adjoint_call>> {
  // The exchange outlives every graph that uses it (its owner also owns the evaluation), so the
  // graph keeps a plain address.
  static variable_list forward(AutogradContext *context, const at::Tensor &rows,
                               const at::Tensor &token, HaloExchange *exchange)
  {
    context->saved_data["exchange"] = reinterpret_cast<std::int64_t>(exchange);
    return {(exchange->*forward_call)(rows), token.clone()};
  }

  static variable_list backward(AutogradContext *context, variable_list gradients)
  {
    auto *exchange = reinterpret_cast<HaloExchange *>(context->saved_data["exchange"].toInt());
    return {(exchange->*adjoint_call)(gradients[0]), gradients[1], at::Tensor()};
  }
};

template <Exchanged forward_call, Exchanged adjoint_call>
Chained exchanged(HaloExchange &exchange, const at::Tensor &rows, const at::Tensor &token)
{
  if (exchange.plan().isolated()) return {(exchange.*forward_call)(rows), token};
  variable_list results = ExchangeRows<forward_call, adjoint_call>::apply(rows, token, &exchange);
  return {results[0], results[1]};
}

}    // namespace

Chained gather_rows(HaloExchange &exchange, const at::Tensor &owned, const at::Tensor &token)
{
  return exchanged<&HaloExchange::gather, &HaloExchange::scatter>(exchange, owned, token);
}

Chained scatter_rows(HaloExchange &exchange, const at::Tensor &rows, const at::Tensor &token)
{
  return exchanged<&HaloExchange::scatter, &HaloExchange::gather>(exchange, rows, token);
}

Chained correct_rows(HaloExchange &exchange, const at::Tensor &rows, const at::Tensor &token)
{
  return exchanged<&HaloExchange::correct, &HaloExchange::correct>(exchange, rows, token);
}

}    // namespace mlip_dd
