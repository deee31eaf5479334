// Products of small dense matrices of doubles. Not the tensor library's: LAMMPS may bring a dgemm_
// of its own, several times slower, which then takes the place of the library's. No torch.
#pragma once

#include <cstdint>

namespace mlip_dd {

// n below must be a multiple of this.
inline constexpr std::int64_t kMatrixColumns = 8;

// c [m, n] = a [m, k] b [k, n], or c += with `add`. All row-major and dense; none may overlap.
void multiply_matrices(std::int64_t m, std::int64_t n, std::int64_t k, const double *a,
                       const double *b, double *c, bool add);

}    // namespace mlip_dd
