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

// A module with the methods of `source` and these parameters. Compiled from C++, TorchScript knows
// no names of dtypes: those used here are replaced by torch's numbers for them.
inline torch::jit::Module scripted(
    std::string source, const std::vector<std::pair<std::string, at::Tensor>> &parameters = {})
{
  const std::pair<std::string, c10::ScalarType> names[] = {
      {"torch.float64", at::kDouble}, {"torch.float32", at::kFloat}, {"torch.int32", at::kInt}, {"torch.int64", at::kLong}};
  for (const auto &[name, type] : names)
    for (std::size_t at = source.find(name); at != std::string::npos; at = source.find(name))
      source.replace(at, name.size(), std::to_string(static_cast<int>(type)));
  torch::jit::Module module("toy");
  for (const auto &[name, value] : parameters) module.register_parameter(name, value, false);
  module.define(source);
  return module;
}

}    // namespace mlip_dd::test
