#include "base/quote.h"

namespace mlip_dd {

std::string in_quotes(std::string_view text)
{
  std::string result;
  result.reserve(text.size() + 2);
  result.push_back('"');
  result.append(text);
  result.push_back('"');
  return result;
}

}    // namespace mlip_dd
