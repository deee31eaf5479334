#include "potentials/ewald/matrix_product.h"

#include <cstring>

#include "potentials/pair/wide.h"

namespace mlip_dd {

namespace {

// Eight doubles: one register, two or four, as the machine has them.
using Lanes = double __attribute__((vector_size(64)));
static_assert(sizeof(Lanes) == kMatrixColumns * sizeof(double));

// Rows of a tile of c that stays in registers while k runs.
constexpr int kRows = 6;

template <int Rows>
[[gnu::always_inline]] inline void multiply_tile(std::int64_t n, std::int64_t k, const double *a,
                                                 const double *b, double *c, bool add)
{
  Lanes tile[Rows] = {};
  for (std::int64_t l = 0; l < k; ++l) {
    Lanes from;
    std::memcpy(&from, b + l * n, sizeof(from));
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) tile[i] += a[i * k + l] * from;
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) {
    Lanes value = {};
    if (add) std::memcpy(&value, c + i * n, sizeof(value));
    value += tile[i];
    std::memcpy(c + i * n, &value, sizeof(value));
  }
}

}    // namespace

MLIP_DD_WIDE void multiply_matrices(std::int64_t m, std::int64_t n, std::int64_t k, const double *a,
                                    const double *b, double *c, bool add)
{
  for (std::int64_t column = 0; column < n; column += kMatrixColumns) {
    std::int64_t row = 0;
    for (; row + kRows <= m; row += kRows)
      multiply_tile<kRows>(n, k, a + row * k, b + column, c + row * n + column, add);
    for (; row < m; ++row)
      multiply_tile<1>(n, k, a + row * k, b + column, c + row * n + column, add);
  }
}

}    // namespace mlip_dd
