// Exchange of plain arrays of doubles with one row per atom, for code that has no tensors.
#pragma once

#include <cstdint>
#include <vector>

namespace mlip_dd {

class HaloExchange;

// Collective as HaloExchange. rows is [n_owned, width] and becomes [n_owned + n_halo, width].
void gather_array(HaloExchange &exchange, std::vector<double> &rows, std::int64_t width);

// Collective as HaloExchange. rows is [n_owned + n_halo, width] and becomes [n_owned, width], halo
// rows added to their owners.
void scatter_array(HaloExchange &exchange, std::vector<double> &rows, std::int64_t width);

}    // namespace mlip_dd
