// Chemical element symbols and atomic numbers.
#pragma once

#include <string_view>

namespace mlip_dd {

// 1 for "H" to 118 for "Og"; 0 when `symbol` is no element. Case matters.
int find_atomic_number(std::string_view symbol);

// As above; throws Error when `symbol` is no element.
int atomic_number(std::string_view symbol);

}    // namespace mlip_dd
