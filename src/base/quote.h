// Names in messages stand in double quotes.
#pragma once

#include <string>
#include <string_view>

namespace mlip_dd {

// The text between double quotes, as it is.
std::string in_quotes(std::string_view text);

}    // namespace mlip_dd
