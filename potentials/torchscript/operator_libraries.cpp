#include "potentials/torchscript/operator_libraries.h"

#include <ATen/DynamicLibrary.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/passes/inliner.h>

#include <filesystem>

#include "base/error.h"

namespace mlip_dd {

namespace {

constexpr const char *kPlace = "/model/libraries";

void collect(const torch::jit::Block &block, std::vector<c10::OperatorName> &names)
{
  for (const torch::jit::Node *node : block.nodes()) {
    for (const torch::jit::Block *inner : node->blocks()) collect(*inner, names);
    const auto *schema = node->maybeSchema();
    if (schema && !node->kind().is_aten() && !node->kind().is_prim())
      names.push_back(schema->operator_name());
  }
}

}    // namespace

void load_operator_libraries(const std::vector<std::string> &files)
{
  for (const std::string &file : files) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored))
      throw Error({"a library of operators does not exist", file, kPlace,
                   "Give the path of a shared library, relative to the spec file"});
    try {
      const at::DynamicLibrary library(file.c_str(), nullptr, /*leak_handle=*/true);
    } catch (const std::exception &error) {
      const std::string text = error.what();
      throw Error({"a library of operators cannot be loaded", text.substr(0, text.find('\n')),
                   kPlace, "It must be built for this torch, and all that it needs be found"});
    }
  }
}

std::vector<c10::OperatorName> foreign_operators(const torch::jit::Module &module)
{
  const auto graph = module.get_method("forward").graph()->copy();
  torch::jit::Inline(*graph);
  std::vector<c10::OperatorName> names;
  collect(*graph->block(), names);
  return names;
}

}    // namespace mlip_dd
