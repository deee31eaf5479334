// The one exception type of mlip-dd. A message says what is wrong, the value found, where, and what
// to change; callers fill the parts, so that no message forgets one.
#pragma once

#include <stdexcept>
#include <string>

namespace mlip_dd {

struct ErrorParts {
  std::string cause;    // what was expected or went wrong
  std::string found;    // the value met instead; may be empty
  std::string where;    // file and JSON pointer, operator, type, rank; may be empty
  std::string cure;     // what to change
};

class Error : public std::runtime_error {
 public:
  explicit Error(ErrorParts parts);
  const ErrorParts &parts() const noexcept { return parts_; }

 private:
  ErrorParts parts_;
};

// "cause (found: X) in WHERE. CURE" with the empty parts left out.
std::string describe(const ErrorParts &parts);

}    // namespace mlip_dd
