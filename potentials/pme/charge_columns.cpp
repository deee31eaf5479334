#include "potentials/pme/charge_columns.h"

#include "potentials/pme/splines.h"

namespace mlip_dd {

ChargeColumns sort_into_columns(const MeshSize &mesh, std::span<const double> fractional)
{
  const std::size_t n = fractional.size() / 3;
  std::vector<std::int32_t> column_of(n);
  ChargeColumns columns;
  columns.starts.assign(static_cast<std::size_t>(mesh[0]) * static_cast<std::size_t>(mesh[1]) + 1,
                        0);
  for (std::size_t i = 0; i < n; ++i) {
    column_of[i] = axis_place(fractional[3 * i], mesh[0]).point * mesh[1] +
                   axis_place(fractional[3 * i + 1], mesh[1]).point;
    ++columns.starts[static_cast<std::size_t>(column_of[i]) + 1];
  }
  for (std::size_t c = 1; c < columns.starts.size(); ++c)
    columns.starts[c] += columns.starts[c - 1];
  std::vector<std::int32_t> next(columns.starts.begin(), columns.starts.end() - 1);
  columns.charges.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::int32_t &place = next[static_cast<std::size_t>(column_of[i])];
    columns.charges[static_cast<std::size_t>(place++)] = static_cast<std::int32_t>(i);
  }
  return columns;
}

}    // namespace mlip_dd
