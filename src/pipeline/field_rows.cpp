#include "pipeline/field_rows.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>

#include "base/error.h"
#include "graph/device_graph.h"

namespace mlip_dd {

at::Tensor rows_of(const AtomField &field)
{
  if (field.tensor) return field.tensor->rows;
  const auto n = static_cast<std::int64_t>(field.values.size());
  return at::from_blob(const_cast<double *>(field.values.data()), {n / field.width, field.width},
                       at::TensorOptions().dtype(at::kDouble));
}

AtomField field_of(const at::Tensor &rows)
{
  return {rows.size(1), {}, std::make_shared<FieldTensor>(FieldTensor{rows})};
}

AtomField on_host(const AtomField &field)
{
  if (!field.tensor) return field;
  const at::Tensor rows = field.tensor->rows.cpu().contiguous();
  const double *begin = rows.const_data_ptr<double>();
  return {field.width, {begin, begin + rows.numel()}};
}

AtomField on_device(const AtomField &field, const at::Device &device)
{
  if (field.tensor && field.tensor->rows.device() == device) return field;
  return field_of(rows_of(field).to(device, at::kDouble, /*non_blocking=*/false, /*copy=*/true));
}

AtomField multiplied(const AtomField &field, double factor)
{
  if (field.tensor) return field_of(field.tensor->rows.mul(factor));
  AtomField product = field;
  for (double &value : product.values) value *= factor;
  return product;
}

AtomField zeros_like(const AtomField &field)
{
  if (field.tensor) return field_of(at::zeros_like(field.tensor->rows));
  return {field.width, std::vector<double>(field.values.size(), 0.0)};
}

AtomFields owned_device_fields(const DeviceGraph &graph, const std::vector<std::string> &names,
                               const std::string &model)
{
  AtomFields fields;
  for (const std::string &name : names) {
    const at::Tensor rows = graph.owned_field(name);
    if (!rows.defined()) throw missing_field(name, model);
    fields[name] = field_of(rows);
  }
  return fields;
}

}    // namespace mlip_dd
