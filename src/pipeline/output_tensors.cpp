#include "pipeline/output_tensors.h"

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
