#include "committee.h"

#include <ATen/ATen.h>

#include "pipeline/field_rows.h"
#include "pipeline/output_tensors.h"

namespace mlip_dd {

namespace {

// [n_owned, 3], where they are.
at::Tensor forces_of(const ModelRunner &runner)
{
  const PotentialOutput &output = runner.output();
  const std::int64_t n_owned = runner.graph().n_owned;
  if (output.tensors) return output.tensors->forces.narrow(0, 0, n_owned);
  return at::from_blob(const_cast<double *>(output.forces.data()), {n_owned, 3}, at::kDouble);
}

}    // namespace

AtomField force_deviation(const Pipeline &pipeline)
{
  std::vector<at::Tensor> forces;
  for (std::size_t member = 0; member < pipeline.size(); ++member)
    forces.push_back(forces_of(pipeline.runner(member)));
  const at::Tensor variance = at::stack(forces).var(/*dim=*/0, /*unbiased=*/false);
  return field_of(variance.sum(1, /*keepdim=*/true).sqrt());
}

}    // namespace mlip_dd
