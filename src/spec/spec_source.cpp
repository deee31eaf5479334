#include "spec/spec_source.h"

#include <algorithm>
#include <array>

#include "spec/json_text.h"
#include "spec/presets.h"
#include "spec/wire.h"

namespace mlip_dd {

namespace {

constexpr std::array<std::string_view, 2> kSpecKeys{"spec", kSchemaKey};

std::string preset_cure()
{
  return "Add \"spec\": " + list_names(preset_names()) + ", or the name of a spec file";
}

MLIPSpec read_named(const JsonPlace &place)
{
  const std::string name = place.non_empty_text("\"spec\"");
  if (const auto preset = find_preset(name)) return *preset;
  ReadContext inner = place.context();
  const std::string path = enter_file(place, name, inner);
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    place.refuse("There is neither a preset of that name nor a file " + path,
                 did_you_mean(name, preset_names()) + "Presets: " + list_names(preset_names()));
  const auto tree = parse_json_text(read_text_file(path), path, inner.warnings);
  const JsonPlace top(tree, "", inner);
  top.expect_object("A spec file");
  for (std::string_view key : {"model", "pipeline"})
    if (top.has(key))
      place.refuse(
          "The file " + path + " is the spec of a " + std::string(key) + ", not a policy alone",
          "Name a preset, or a file with the version-2 keys alone");
  return read_policy_source(top, kSpecKeys);
}

}    // namespace

std::string file_identity(const std::string &path)
{
  std::error_code error;
  auto identity = std::filesystem::weakly_canonical(path, error);
  if (error) identity = std::filesystem::path(path).lexically_normal();
  return identity.string();
}

std::string enter_file(const JsonPlace &place, const std::string &name, ReadContext &inner)
{
  if (name.find('\0') != std::string::npos) place.refuse("A path has a NUL in it", "Correct it");
  const std::string path = (place.context().folder / name).lexically_normal().string();
  const std::string identity = file_identity(path);
  if (std::find(inner.open_files.begin(), inner.open_files.end(), identity) !=
      inner.open_files.end())
    place.refuse("The file " + path + " is read already: spec files go round in a circle",
                 "Name another file");
  inner.open_files.push_back(identity);
  inner.path = path;
  inner.folder = std::filesystem::path(path).parent_path();
  return path;
}

MLIPSpec read_policy_source(const JsonPlace &object, std::span<const std::string_view> others)
{
  std::vector<std::string_view> known(wire_keys().begin(), wire_keys().end());
  known.insert(known.end(), others.begin(), others.end());
  object.expect_keys(known);
  if (const auto schema = object.find(kSchemaKey)) schema->text("The schema");
  const auto named = object.find("spec");
  if (!named) {
    if (object.has("model") && !object.has("version") && !object.has("core"))
      object.refuse("The file has a model but does not say how to distribute it", preset_cure());
    return read_wire_object(object, others);
  }
  for (std::string_view key : wire_keys())
    if (object.has(key))
      named->refuse(
          "The policy is given twice: by \"spec\" and by " + in_quotes(key) + " beside it",
          "Remove one of them");
  if (named->value().is_string()) return read_named(*named);
  if (named->value().is_object()) return read_wire_object(*named);
  named->refuse("\"spec\" is a preset's name, a file's name or a version-2 object", preset_cure());
}

}    // namespace mlip_dd
