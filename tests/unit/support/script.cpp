#include "support/script.h"

#include <ATen/ops/ones.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/sugared_value.h>

#include <memory>

#include "support/script_file.h"

namespace mlip_dd::test {

namespace {

// What names outside the source mean: those that torch's own resolver knows, and our operators.
struct WithTestOperators : torch::jit::NativeResolver {
  std::shared_ptr<torch::jit::SugaredValue> resolveValue(
      const std::string &name, torch::jit::GraphFunction &function,
      const torch::jit::SourceRange &place) override
  {
    constexpr const char *kNamespace = "mlip_dd_test";
    if (name == kNamespace) return std::make_shared<torch::jit::BuiltinModule>(kNamespace);
    return NativeResolver::resolveValue(name, function, place);
  }
};

}    // namespace

torch::jit::Module scripted(std::string source,
                            const std::vector<std::pair<std::string, at::Tensor>> &parameters)
{
  // Compiled from C++, TorchScript knows no names of dtypes, but torch's numbers for them.
  const std::pair<std::string, c10::ScalarType> names[] = {{"torch.float64", at::kDouble},
                                                           {"torch.float32", at::kFloat},
                                                           {"torch.int32", at::kInt},
                                                           {"torch.int64", at::kLong}};
  for (const auto &[name, type] : names)
    for (std::size_t at = source.find(name); at != std::string::npos; at = source.find(name))
      source.replace(at, name.size(), std::to_string(static_cast<int>(type)));
  torch::jit::Module module("toy");
  for (const auto &[name, value] : parameters) module.register_parameter(name, value, false);
  module.define(source, std::make_shared<WithTestOperators>());
  return module;
}

void write_script(const std::string &source, const std::string &file, bool single)
{
  scripted(source, {{"unit", at::ones({1}, single ? at::kFloat : at::kDouble)}}).save(file);
}

}    // namespace mlip_dd::test
