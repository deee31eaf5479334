#include "spec/model_read.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/nearest.h"
#include "spec/elements.h"
#include "spec/families.h"
#include "spec/potentials.h"

namespace mlip_dd {

namespace {

constexpr std::array<std::string_view, 14> kModelKeys{
    "potential", "family",    "file",       "cutoff", "layers",  "elements",         "units",
    "dtype",     "citations", "parameters", "inputs", "outputs", "autograd_outputs", "libraries"};
constexpr std::array<std::string_view, 8> kUnits{"metal",    "real",  "si",   "cgs",
                                                 "electron", "micro", "nano", "lj"};
constexpr std::array<std::string_view, 2> kDtypes{"float32", "float64"};
constexpr std::string_view kDefaultFamily = "generic";

std::vector<std::string_view> family_names()
{
  std::vector<std::string_view> names;
  for (const Family &family : families()) names.push_back(family.name);
  return names;
}

// A string that must be one of the words.
std::string read_word(const JsonPlace &place, const std::string &what,
                      std::span<const std::string_view> words)
{
  if (place.value().is_string())
    for (std::string_view word : words)
      if (word == place.value().get_ref<const std::string &>()) return std::string(word);
  place.refuse_word(what, words);
}

std::string resolved(const JsonPlace &place, const std::string &what)
{
  const std::string given = place.non_empty_text(what);
  if (given.find('\0') != std::string::npos) place.refuse(what + " has a NUL in it", "Correct it");
  std::error_code error;
  const auto absolute = std::filesystem::absolute(place.context().folder / given, error);
  if (error) place.refuse(what + " can't be made an absolute path", "Give an absolute path");
  return absolute.lexically_normal().string();
}

const PotentialInfo &read_potential(const JsonPlace &model)
{
  if (!model.has("potential"))
    model.refuse("The model names no potential",
                 "Add \"potential\": " + list_names(potential_names()));
  return *find_potential(read_word(model.at("potential"), "The potential", potential_names()));
}

// One file, or those of a committee.
void read_files(const JsonPlace &place, ModelSpec &spec)
{
  if (!place.value().is_array()) {
    spec.file = resolved(place, "The model file");
    return;
  }
  for (const JsonPlace &member : place.elements())
    spec.committee.push_back(resolved(member, "The model file"));
  if (spec.committee.empty())
    place.refuse("The list of model files is empty", "Name the members of the committee in it");
  spec.file = spec.committee.front();
  spec.committee.erase(spec.committee.begin());
}

// Model files take a family and a file; native potentials neither.
void read_source(const JsonPlace &model, const PotentialInfo &potential, ModelSpec &spec)
{
  const std::string name = in_quotes(spec.potential);
  if (!potential.has_file) {
    for (std::string_view key :
         {"family", "file", "inputs", "outputs", "autograd_outputs", "libraries", "dtype"})
      if (const auto place = model.find(key))
        place->object_to("The potential " + name + " is computed without a model file and has no " +
                             in_quotes(key),
                         "Remove the key");
    return;
  }
  if (!model.has("file"))
    model.refuse("The potential " + name + " needs a model file",
                 "Add \"file\", a path relative to this spec file");
  read_files(model.at("file"), spec);
  const auto family = model.find("family");
  spec.family =
      family ? read_word(*family, "The family", family_names()) : std::string(kDefaultFamily);
  if (const auto dtype = model.find("dtype")) spec.dtype = read_word(*dtype, "The dtype", kDtypes);
  if (const auto libraries = model.find("libraries")) {
    libraries->expect_array("\"libraries\"");
    for (const JsonPlace &library : libraries->elements())
      spec.libraries.push_back(resolved(library, "A library"));
  }
}

using Names = std::map<std::string, std::string>;

// Besides the roles, any name is that of a quantity of the model's own, unless it looks like a slip
// of the pen.
void check_role(const JsonPlace &place, const std::string &name,
                std::span<const std::string_view> roles)
{
  if (name.empty() || name.find('.') != std::string::npos)
    place.refuse("The name of a per-atom field must not be empty or hold a dot", "Rename it");
  std::vector<std::string_view> known(roles.begin(), roles.end());
  known.push_back(kChargesField);
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  if (!nearest_name(name, known).empty())
    place.refuse("The key " + in_quotes(name) + " is not known here",
                 did_you_mean(name, known) +
                     "A per-atom field of your own needs a name less like "
                     "those that have a meaning: " +
                     list_names(known));
}

// The family's names with the file's over them; both roles and names must be used once.
Names read_roles(const JsonPlace &model, std::string_view key,
                 std::span<const FamilyField> defaults, std::span<const std::string_view> roles)
{
  Names names;
  for (const FamilyField &field : defaults)
    names[std::string(field.role)] = std::string(field.name);
  const auto place = model.find(key);
  if (!place) return names;
  place->expect_object(in_quotes(key));
  for (const auto &[role, name] : place->members()) {
    check_role(name, role, roles);
    names[role] = name.non_empty_text("The model's name for " + in_quotes(role));
  }
  std::map<std::string, std::string> taken;
  for (const auto &[role, name] : names) {
    const auto [first, fresh] = taken.emplace(name, role);
    if (!fresh)
      place->refuse("The model's " + in_quotes(name) + " is given for " + in_quotes(first->second) +
                        " and " + in_quotes(role),
                    "Give each a name of its own");
  }
  return names;
}

void read_inputs_and_outputs(const JsonPlace &model, ModelSpec &spec)
{
  const Family &family = *find_family(spec.family);
  spec.inputs = read_roles(model, "inputs", family.inputs, input_roles());
  spec.outputs = read_roles(model, "outputs", family.outputs, output_roles());
  for (const auto &[names, key, roles] : {std::tuple(&spec.inputs, "inputs", input_roles()),
                                          std::tuple(&spec.outputs, "outputs", output_roles())})
    if (names->empty())
      model.refuse(
          "The family " + in_quotes(spec.family) + " has no names of its own for " + in_quotes(key),
          "Add " + in_quotes(key) + ", which maps ours (" + list_names(roles) + ") to the model's");
  if (const auto place = model.find("autograd_outputs")) {
    place->expect_array("\"autograd_outputs\"");
    spec.autograd_outputs.clear();
    for (const JsonPlace &output : place->elements()) {
      const std::string name = output.non_empty_text("An output");
      if (!spec.outputs.contains(name))
        output.refuse("The model has no output " + in_quotes(name), "Map it in \"outputs\" first");
      spec.autograd_outputs.push_back(name);
    }
  }
}

void read_cutoff(const JsonPlace &model, const PotentialInfo &potential, ModelSpec &spec)
{
  const auto place = model.find("cutoff");
  if (!place) {
    if (potential.needs_cutoff)
      model.refuse("The potential " + in_quotes(spec.potential) + " needs a cutoff",
                   "Add \"cutoff\", in the length unit of \"units\" (Angstrom in metal units)");
    return;
  }
  const double cutoff = place->finite_number("The cutoff");
  if (!(cutoff > 0)) place->refuse("The cutoff must be above zero", "Give the model's cutoff");
  spec.cutoff = cutoff;
}

void read_elements(const JsonPlace &model, ModelSpec &spec)
{
  if (!model.has("elements"))
    model.refuse("The model's elements are missing",
                 "Add \"elements\": chemical symbols in the order of the model's types");
  const JsonPlace place = model.at("elements");
  place.expect_array("\"elements\"");
  if (place.value().empty())
    place.refuse("The model has no elements", "List them in the order of the model's types");
  // Dimensionless particles have names, but need not be elements.
  const bool any_name = spec.units == "lj";
  std::set<std::string> seen;
  for (const JsonPlace &element : place.elements()) {
    const std::string symbol = element.non_empty_text("An element");
    if (!any_name && find_atomic_number(symbol) == 0)
      element.refuse("There is no such element", did_you_mean(symbol, element_symbols()) +
                                                     "Write chemical symbols, such as \"Na\"");
    if (!seen.insert(symbol).second)
      element.refuse("The element stands twice", "List each element once");
    spec.elements.push_back(symbol);
  }
}

}    // namespace

std::span<const std::string_view> unit_names() { return kUnits; }
std::span<const std::string_view> dtype_names() { return kDtypes; }

ModelSpec read_model(const JsonPlace &place)
{
  place.expect_object("\"model\"");
  place.expect_keys(kModelKeys);
  const PotentialInfo &potential = read_potential(place);
  ModelSpec spec;
  spec.potential = std::string(potential.name);
  if (const auto units = place.find("units")) spec.units = read_word(*units, "The units", kUnits);
  read_source(place, potential, spec);
  read_cutoff(place, potential, spec);
  if (const auto layers = place.find("layers"))
    spec.layers = layers->whole_number("The number of layers", 0);
  read_elements(place, spec);
  if (potential.has_file) read_inputs_and_outputs(place, spec);
  if (const auto citations = place.find("citations")) {
    citations->expect_array("\"citations\"");
    for (const JsonPlace &citation : citations->elements())
      spec.citations.push_back(citation.non_empty_text("A citation"));
  }
  if (const auto parameters = place.find("parameters")) {
    parameters->expect_object("\"parameters\"");
    spec.parameters = nlohmann::json(parameters->value());
    const std::string key(potential.file_parameter);
    if (const auto file = key.empty() ? std::nullopt : parameters->find(key))
      spec.parameters[key] = resolved(*file, in_quotes(key));
  }
  return spec;
}

nlohmann::ordered_json to_json(const ModelSpec &model)
{
  nlohmann::ordered_json object{{"potential", model.potential}};
  if (!model.family.empty()) object["family"] = model.family;
  if (!model.file.empty()) object["file"] = model.file;
  if (!model.committee.empty()) {
    std::vector<std::string> files{model.file};
    files.insert(files.end(), model.committee.begin(), model.committee.end());
    object["file"] = files;
  }
  if (model.cutoff) object["cutoff"] = *model.cutoff;
  if (model.layers) object["layers"] = *model.layers;
  object["elements"] = model.elements;
  object["units"] = model.units;
  if (!model.dtype.empty()) object["dtype"] = model.dtype;
  if (!model.inputs.empty()) object["inputs"] = model.inputs;
  if (!model.outputs.empty()) object["outputs"] = model.outputs;
  if (model.autograd_outputs != default_autograd_outputs())
    object["autograd_outputs"] = model.autograd_outputs;
  if (!model.libraries.empty()) object["libraries"] = model.libraries;
  if (!model.citations.empty()) object["citations"] = model.citations;
  if (!model.parameters.empty()) object["parameters"] = nlohmann::ordered_json(model.parameters);
  return object;
}

}    // namespace mlip_dd
