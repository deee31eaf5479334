// Operators that a model uses beside torch's own: the libraries that register them, and their
// names.
#pragma once

#include <ATen/core/operator_name.h>

#include <string>
#include <vector>

namespace torch::jit {
struct Module;
}

namespace mlip_dd {

// Loads shared libraries, for the life of the process; what they register is there at once. Not
// collective. Throws Error for a file that is missing or no library.
void load_operator_libraries(const std::vector<std::string> &files);

// The operators in the module's forward, and in what it calls, that are not torch's own.
std::vector<c10::OperatorName> foreign_operators(const torch::jit::Module &module);

}    // namespace mlip_dd
