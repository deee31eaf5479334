#include "halo/row_arrays.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>

#include "halo/halo_exchange.h"

namespace mlip_dd {

namespace {

at::Tensor view(std::vector<double> &rows, std::int64_t width)
{
  const auto count = static_cast<std::int64_t>(rows.size()) / width;
  return at::from_blob(rows.data(), {count, width}, at::kDouble);
}

void assign(std::vector<double> &rows, const at::Tensor &values)
{
  rows.resize(static_cast<std::size_t>(values.numel()));
  std::copy_n(values.const_data_ptr<double>(), values.numel(), rows.data());
}

}    // namespace

void gather_array(HaloExchange &exchange, std::vector<double> &rows, std::int64_t width)
{
  if (!exchange.plan().isolated()) assign(rows, exchange.gather(view(rows, width)));
}

void scatter_array(HaloExchange &exchange, std::vector<double> &rows, std::int64_t width)
{
  if (!exchange.plan().isolated()) assign(rows, exchange.scatter(view(rows, width)));
}

}    // namespace mlip_dd
