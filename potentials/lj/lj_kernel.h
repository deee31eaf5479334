// Lennard-Jones energies, forces and virials of a block of owned atoms. No torch.
#pragma once

#include <cstdint>

#include "potentials/lj/lj_parameters.h"
#include "potentials/pair/pair_view.h"
#include "potentials/pair/row_results.h"

namespace mlip_dd {

// Rows [begin, end). Reads and writes nothing else, so that blocks may run side by side.
BlockTotals add_lj_block(const PairView &rows, const LjParameters &parameters, std::int64_t begin,
                         std::int64_t end, const RowResults &results);

}    // namespace mlip_dd
