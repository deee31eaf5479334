#include "potentials/torchscript/model_call.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace mlip_dd {

namespace {

// The value of a text of digits alone, or -1.
int position_of(const std::string &name)
{
  int value = -1;
  const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), value);
  return status == std::errc() && end == name.data() + name.size() ? value : -1;
}

std::string joined(const std::vector<std::string> &names)
{
  std::string text;
  for (const std::string &name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

std::vector<std::string> names_in(const c10::IValue &result)
{
  std::vector<std::string> names;
  if (result.isGenericDict())
    for (const auto &entry : result.toGenericDict())
      names.push_back(entry.key().isString() ? entry.key().toStringRef() : "?");
  else if (result.isTuple())
    for (std::size_t k = 0; k < result.toTupleRef().elements().size(); ++k)
      names.push_back(std::to_string(k));
  else
    names.push_back("0");
  return names;
}

}    // namespace

ModelCall::ModelCall(const torch::jit::Module &module, const ModelSpec &model) : model_(model)
{
  if (!module.find_method("forward"))
    throw Error(
        {"the scripted module has no forward method", "", model.file, "Export the model again"});
  if (model.inputs.empty() || model.outputs.empty())
    throw Error({"the names of the model's inputs and outputs are not known",
                 "family " + model.family, "/model",
                 "Name a family, or map them in /model/inputs and /model/outputs"});
  const auto &arguments = module.get_method("forward").function().getSchema().arguments();
  std::vector<std::string> names;
  for (std::size_t k = 1; k < arguments.size(); ++k) {
    names.push_back(arguments[k].name());
    if (arguments[k].type()->kind() == c10::TypeKind::DictType)
      dict_position_ = static_cast<int>(k) - 1;
  }
  positional_roles_.resize(names.size());
  for (const auto &[role, name] : model.inputs) {
    const auto found = std::find(names.begin(), names.end(), name);
    const int position =
        found != names.end() ? static_cast<int>(found - names.begin()) : position_of(name);
    if (dict_position_ >= 0 && found == names.end()) {
      dict_roles_.push_back(role);
      continue;
    }
    if (position < 0 || position >= static_cast<int>(names.size()))
      throw Error({"the model's forward has no such argument", "\"" + name + "\"",
                   "/model/inputs/" + role, "Its arguments are: " + joined(names)});
    positional_roles_[static_cast<std::size_t>(position)] = role;
  }
  for (std::size_t k = 0; k < names.size(); ++k)
    if (static_cast<int>(k) != dict_position_ && positional_roles_[k].empty() &&
        !arguments[k + 1].default_value())
      throw Error({"an argument of the model's forward has no input", "\"" + names[k] + "\"",
                   "/model/inputs", "Map one of our input names to it"});
}

c10::IValue ModelCall::run(torch::jit::Module &module,
                           const std::map<std::string, c10::IValue> &inputs) const
{
  torch::jit::Kwargs keywords;
  const auto &schema = module.get_method("forward").function().getSchema().arguments();
  if (dict_position_ >= 0) {
    c10::Dict<std::string, at::Tensor> dict;
    for (const std::string &role : dict_roles_)
      dict.insert(model_.inputs.at(role), inputs.at(role).toTensor());
    keywords[schema[static_cast<std::size_t>(dict_position_) + 1].name()] = std::move(dict);
  }
  for (std::size_t k = 0; k < positional_roles_.size(); ++k)
    if (!positional_roles_[k].empty())
      keywords[schema[k + 1].name()] = inputs.at(positional_roles_[k]);
  return module.forward({}, keywords);
}

at::Tensor ModelCall::output(const c10::IValue &result, const std::string &role) const
{
  const std::string &name = model_.outputs.at(role);
  c10::IValue value;
  if (result.isGenericDict()) {
    const auto dict = result.toGenericDict();
    if (const auto found = dict.find(name); found != dict.end()) value = found->value();
  } else if (result.isTuple()) {
    const auto &elements = result.toTupleRef().elements();
    const int position = position_of(name);
    if (position >= 0 && position < static_cast<int>(elements.size()))
      value = elements[static_cast<std::size_t>(position)];
  } else {
    // A single tensor has no name of its own.
    value = result;
  }
  if (!value.isTensor())
    throw Error({"the model returned no tensor of this name", "\"" + name + "\"",
                 "/model/outputs/" + role, "It returns: " + joined(names_in(result))});
  return value.toTensor();
}

}    // namespace mlip_dd
