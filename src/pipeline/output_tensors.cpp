#include "pipeline/output_tensors.h"

#include <ATen/ops/from_blob.h>

#include "pipeline/field_rows.h"

namespace mlip_dd {

namespace {

void copy(const at::Tensor &tensor, std::vector<double> &values)
{
  values.clear();
  if (!tensor.defined()) return;
  const at::Tensor host = tensor.cpu().contiguous();
  const double *begin = host.const_data_ptr<double>();
  values.assign(begin, begin + host.numel());
}

}    // namespace

OutputTensors owned_results(PotentialOutput &output, std::int64_t n_owned)
{
  if (const OutputTensors *tensors = output.tensors.get()) {
    const auto owned = [n_owned](const at::Tensor &rows) {
      return rows.defined() ? rows.narrow(0, 0, n_owned) : rows;
    };
    return {tensors->node_energy, owned(tensors->forces), owned(tensors->node_virial),
            owned(tensors->centroid_virial)};
  }
  const auto owned = [n_owned](std::vector<double> &rows, at::IntArrayRef shape) {
    if (rows.empty() && n_owned > 0) return at::Tensor();
    return at::from_blob(rows.data(), shape, at::kDouble);
  };
  return {owned(output.node_energy, {n_owned}), owned(output.forces, {n_owned, 3}),
          owned(output.node_virial, {n_owned, 9}), owned(output.centroid_virial, {n_owned, 9})};
}

void copy_to_arrays(PotentialOutput &output)
{
  if (!output.tensors) return;
  copy(output.tensors->node_energy, output.node_energy);
  copy(output.tensors->forces, output.forces);
  copy(output.tensors->node_virial, output.node_virial);
  copy(output.tensors->centroid_virial, output.centroid_virial);
  for (AtomFields *fields : {&output.fields, &output.gradients})
    for (auto &[name, field] : *fields) field = on_host(field);
}

}    // namespace mlip_dd
