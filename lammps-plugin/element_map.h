// The element names of `pair_coeff * * ...`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mlip_dd {

// `arguments` are those of pair_coeff, "* *" first. Returns, for LAMMPS types 1..n_types (entry 0
// unused), the index into `elements`, or -1 for NULL. Throws Error for anything else.
std::vector<std::int32_t> read_element_map(std::span<const char *const> arguments, int n_types,
                                           const std::vector<std::string> &elements);

}    // namespace mlip_dd
