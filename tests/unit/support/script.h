// TorchScript source in tests, without Python.
#pragma once

#include <torch/script.h>

#include <string>
#include <utility>
#include <vector>

// torch has a CHECK of its own; in tests it is Catch2's, whichever header came first.
#ifdef CATCH_VERSION_MAJOR
#undef CHECK
#define CHECK(...) \
  INTERNAL_CATCH_TEST("CHECK", Catch::ResultDisposition::ContinueOnFailure, __VA_ARGS__)
#endif

namespace mlip_dd::test {

// A module with the methods of `source` and these parameters. The source may call
// mlip_dd_test.<operator>, of custom_ops.cpp, once that library is loaded.
torch::jit::Module scripted(
    std::string source, const std::vector<std::pair<std::string, at::Tensor>> &parameters = {});

}    // namespace mlip_dd::test
