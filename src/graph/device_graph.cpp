#include "graph/device_graph.h"

#include <ATen/ATen.h>

#include "base/error.h"
#include "graph/atom_graph.h"
#include "graph/edge_shifts.h"

namespace mlip_dd {

std::int64_t AtomGraph::n_edges() const
{
  return device ? device->vectors.size(0) : static_cast<std::int64_t>(receivers.size());
}

at::Tensor edge_unit_shifts(const DeviceGraph &graph, const at::Tensor &row_positions,
                            const Cell &cell)
{
  const at::Tensor ends = row_positions.index_select(0, graph.edge_index[1]) -
                          row_positions.index_select(0, graph.edge_index[0]);
  const at::Tensor lattice =
      at::from_blob(const_cast<double *>(cell.vectors.data()), {3, 3}, at::kDouble);
  const at::Tensor fractional =
      (graph.vectors - ends).matmul(at::linalg_inv(lattice).to(row_positions.device()));
  const at::Tensor whole = fractional.round();
  if (fractional.numel() == 0) return whole;
  const double off = (fractional - whole).abs().max().item<double>();
  if (!(off < kWholeShift))
    throw Error({"an edge does not end at a periodic image of its sender",
                 std::to_string(off) + " lattice vectors away from one", "", "Please report this"});
  return whole;
}

}    // namespace mlip_dd
