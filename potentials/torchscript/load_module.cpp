#include "potentials/torchscript/load_module.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "potentials/torchscript/operator_libraries.h"

namespace mlip_dd {

namespace {

// A cutoff copied into the spec by hand may be rounded; a real mismatch is far larger.
constexpr double kCutoffAgreement = 1e-6;

void check_readable(const std::string &file)
{
  namespace fs = std::filesystem;
  std::error_code ignored;
  const std::string cure = "Give the path of an exported TorchScript file in /model/file";
  if (!fs::exists(file, ignored))
    throw Error({"the model file does not exist", file, "/model/file", cure});
  if (fs::is_directory(file, ignored))
    throw Error({"the model file is a directory", file, "/model/file", cure});
  if (!std::ifstream(file, std::ios::binary).is_open())
    throw Error({"the model file cannot be read", file, "/model/file", "Check its permissions"});
}

// torch's messages carry a C++ backtrace; people need the first line.
std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }

std::vector<std::string> words(const std::string &text)
{
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

void check_elements(const ModelSpec &model, const std::string &listed)
{
  const std::vector<std::string> found = words(listed);
  if (found.empty() || found == model.elements) return;
  std::size_t k = 0;
  while (k < found.size() && k < model.elements.size() && found[k] == model.elements[k]) ++k;
  const auto name = [&](const std::vector<std::string> &list) {
    return k < list.size() ? list[k] : "nothing";
  };
  throw Error({"/model/elements differs from the model's own list",
               "entry " + std::to_string(k) + " is " + name(model.elements) + ", the file has " +
                   name(found),
               model.file, "Export the model again, or copy the file's order of elements"});
}

void check_cutoff(const ModelSpec &model, const std::string &listed)
{
  if (listed.empty()) return;
  const double found = std::stod(listed);
  if (std::abs(found - *model.cutoff) > kCutoffAgreement)
    throw Error({"/model/cutoff differs from the model's own",
                 std::to_string(*model.cutoff) + ", the file has " + listed, model.file,
                 "Set \"cutoff\": " + listed});
}

// Parameters, buffers, and the constants that freezing makes of them.
std::vector<at::Tensor> weights_of(const torch::jit::Module &module)
{
  std::vector<at::Tensor> weights;
  for (const at::Tensor &tensor : module.parameters()) weights.push_back(tensor);
  for (const at::Tensor &tensor : module.buffers()) weights.push_back(tensor);
  std::vector<torch::jit::Block *> blocks{module.get_method("forward").graph()->block()};
  while (!blocks.empty()) {
    torch::jit::Block *block = blocks.back();
    blocks.pop_back();
    for (torch::jit::Node *node : block->nodes()) {
      blocks.insert(blocks.end(), node->blocks().begin(), node->blocks().end());
      if (node->kind() != c10::prim::Constant || !node->hasAttribute(c10::attr::value)) continue;
      if (node->kindOf(c10::attr::value) == torch::jit::AttributeKind::t)
        weights.push_back(node->t(c10::attr::value));
    }
  }
  return weights;
}

// The floating type that most weights have; none when there are no floating weights.
std::optional<c10::ScalarType> floating_dtype(const std::vector<at::Tensor> &weights)
{
  std::int64_t singles = 0, doubles = 0;
  for (const at::Tensor &tensor : weights) {
    if (tensor.scalar_type() == at::kFloat) singles += tensor.numel();
    if (tensor.scalar_type() == at::kDouble) doubles += tensor.numel();
  }
  if (singles + doubles == 0) return std::nullopt;
  return doubles > singles ? at::kDouble : at::kFloat;
}

c10::ScalarType dtype_of(const ModelSpec &model, std::optional<c10::ScalarType> file)
{
  if (model.dtype.empty()) return file.value_or(at::kFloat);
  const c10::ScalarType wanted = model.dtype == "float64" ? at::kDouble : at::kFloat;
  if (file && wanted != *file)
    throw Error({"/model/dtype differs from the model's weights",
                 model.dtype + ", the file has " + (*file == at::kDouble ? "float64" : "float32"),
                 model.file, "Export the model in the dtype wanted, or leave \"dtype\" out"});
  return wanted;
}

}    // namespace

LoadedModule load_module(const ModelSpec &model, const Family &family, const c10::Device &device)
{
  check_readable(model.file);
  load_operator_libraries(model.libraries);
  torch::jit::ExtraFilesMap extra;
  for (const std::string_view name : {family.elements_extra_file, family.cutoff_extra_file})
    if (!name.empty()) extra[std::string(name)] = "";
  LoadedModule loaded;
  try {
    loaded.module = torch::jit::load(model.file, device, extra);
  } catch (const std::exception &error) {
    throw Error({"the model file is not a readable TorchScript archive", first_line(error.what()),
                 model.file,
                 "It may be truncated or of another kind: export it again with `python -m mlip_dd "
                 "export`"});
  }
  if (!family.elements_extra_file.empty())
    check_elements(model, extra[std::string(family.elements_extra_file)]);
  if (!family.cutoff_extra_file.empty())
    check_cutoff(model, extra[std::string(family.cutoff_extra_file)]);

  loaded.module.eval();
  for (at::Tensor parameter : loaded.module.parameters()) parameter.requires_grad_(false);
  const std::vector<at::Tensor> weights = weights_of(loaded.module);
  loaded.weights = 0;
  for (const at::Tensor &tensor : weights)
    if (tensor.is_floating_point()) loaded.weights += tensor.numel();
  loaded.dtype = dtype_of(model, floating_dtype(weights));
  return loaded;
}

}    // namespace mlip_dd
