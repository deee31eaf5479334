#include "base/error.h"

#include <utility>

namespace mlip_dd {

std::string describe(const ErrorParts &parts)
{
  std::string text = parts.cause;
  if (!parts.found.empty()) text += " (found: " + parts.found + ")";
  if (!parts.where.empty()) text += " in " + parts.where;
  if (!parts.cure.empty()) text += ". " + parts.cure;
  return text;
}

Error::Error(ErrorParts parts) : std::runtime_error(describe(parts)), parts_(std::move(parts)) {}

}    // namespace mlip_dd
