// The legal name closest to a misspelt one, for error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mlip_dd {

// The candidate with the smallest edit distance (insert, delete, replace, swap of neighbours);
// empty when every candidate is further than a third of the longer name's length plus one.
std::string nearest_name(std::string_view name, std::span<const std::string_view> candidates);

}    // namespace mlip_dd
