#include "graph/edge_shifts.h"

#include <array>
#include <cmath>
#include <string>

#include "base/error.h"

namespace mlip_dd {

namespace {

using Matrix = std::array<double, 9>;

// Of a matrix with lattice vectors in rows: fractional = cartesian * inverse.
Matrix inverse(const Matrix &m)
{
  const Matrix cofactors{
      m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
      m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
      m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
  const double determinant = m[0] * cofactors[0] + m[1] * cofactors[3] + m[2] * cofactors[6];
  Matrix result;
  for (std::size_t k = 0; k < 9; ++k) result[k] = cofactors[k] / determinant;
  return result;
}

}    // namespace

std::vector<double> edge_unit_shifts(const AtomGraph &graph, std::span<const double> row_positions,
                                     const Cell &cell)
{
  const Matrix to_fractional = inverse(cell.vectors);
  std::vector<double> shifts(graph.vectors.size());
  for (std::size_t e = 0; e < graph.receivers.size(); ++e) {
    const double *sender = &row_positions[3 * static_cast<std::size_t>(graph.senders[e])];
    const double *receiver = &row_positions[3 * static_cast<std::size_t>(graph.receivers[e])];
    std::array<double, 3> shift;
    for (std::size_t a = 0; a < 3; ++a)
      shift[a] = graph.vectors[3 * e + a] - (sender[a] - receiver[a]);
    for (std::size_t a = 0; a < 3; ++a) {
      const double fractional = shift[0] * to_fractional[a] + shift[1] * to_fractional[3 + a] +
                                shift[2] * to_fractional[6 + a];
      const double whole = std::round(fractional);
      if (!(std::abs(fractional - whole) < kWholeShift))
        throw Error({"an edge does not end at a periodic image of its sender",
                     std::to_string(fractional) + " lattice vectors away",
                     "edge " + std::to_string(e) + " of this rank", "Please report this"});
      shifts[3 * e + a] = whole;
    }
  }
  return shifts;
}

}    // namespace mlip_dd
