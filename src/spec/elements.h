// Chemical element symbols and atomic numbers.
#pragma once

#include <span>
#include <string_view>

namespace mlip_dd {

// Symbols of elements 1 to 118 in order: element_symbols()[0] is "H".
std::span<const std::string_view> element_symbols();

// 1 for "H" to 118 for "Og"; 0 when `symbol` is no element. Case matters.
int find_atomic_number(std::string_view symbol);

// As above; throws Error when `symbol` is no element.
int atomic_number(std::string_view symbol);

}    // namespace mlip_dd
