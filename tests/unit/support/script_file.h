// TorchScript files of tests, for code that need not see torch.
#pragma once

#include <string>

namespace mlip_dd::test {

// Writes a module with the methods of `source` and one parameter, which gives the file its dtype.
void write_script(const std::string &source, const std::string &file, bool single = false);

}    // namespace mlip_dd::test
