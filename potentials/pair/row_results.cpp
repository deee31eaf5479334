#include "potentials/pair/row_results.h"

#include <vector>

#include "pipeline/output_tensors.h"
#include "pipeline/potential.h"
#include "potentials/pair/row_blocks.h"

namespace mlip_dd {

RowResults row_results(PotentialOutput &output)
{
  if (!output.tensors)
    return {output.node_energy.data(), output.forces.data(),
            output.node_virial.empty() ? nullptr : output.node_virial.data()};
  const OutputTensors &tensors = *output.tensors;
  return {tensors.node_energy.mutable_data_ptr<double>(), tensors.forces.mutable_data_ptr<double>(),
          tensors.node_virial.defined() ? tensors.node_virial.mutable_data_ptr<double>() : nullptr};
}

void add_blocks(std::int64_t n_rows, int threads,
                const std::function<BlockTotals(std::int64_t begin, std::int64_t end)> &work,
                PotentialOutput &output)
{
  std::vector<BlockTotals> blocks(static_cast<std::size_t>(count_blocks(n_rows)));
  for_each_block(n_rows, threads, [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
    blocks[static_cast<std::size_t>(block)] = work(begin, end);
  });
  for (const BlockTotals &block : blocks) {
    output.energy += block.energy;
    for (std::size_t k = 0; k < 9; ++k) output.virial[k] += block.virial[k];
  }
}

}    // namespace mlip_dd
