#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "spec/json_text.h"
#include "spec/wire.h"

namespace mlip_dd {

namespace {

constexpr std::array<std::string_view, 10> kWireKeys{"version",
                                                     "core",
                                                     "system_reductions",
                                                     "node_energy_key",
                                                     "node_virial_key",
                                                     "gp_replicate_geometry",
                                                     "owned_only_outputs",
                                                     "all_reduce_outputs",
                                                     "output_kinds",
                                                     "compile"};
constexpr std::array<std::string_view, 4> kCoreKeys{"policy", "custom_ops", "third_party_helpers",
                                                    "shard_fields"};
constexpr std::array<std::string_view, 1> kPlainPolicyKeys{"kind"};
constexpr std::array<std::string_view, 3> kHaloPolicyKeys{"kind", "scatter_mode", "gather_mode"};
constexpr std::array<std::string_view, 3> kOpKeys{"op", "arg_transforms", "output_transforms"};
constexpr std::array<std::string_view, 3> kCompileKeys{"static_shapes", "force_strategy",
                                                       "stress_via_strain"};
constexpr std::array<std::string_view, 4> kHelperKinds{"jit", "method", "module_forward", "python"};
constexpr std::array<std::string_view, 4> kPythonKeys{"kind", "module_path", "attr_name",
                                                      "replacement"};
constexpr std::array<std::string_view, 5> kJitKeys{"kind", "module_path", "attr_name",
                                                   "replacement", "mode"};
constexpr std::array<std::string_view, 6> kMethodKeys{"kind",        "module_path", "class_name",
                                                      "method_name", "replacement", "mode"};
constexpr std::array<std::string_view, 3> kModuleForwardKeys{"kind", "target", "label"};

bool truth_or(const JsonPlace &object, std::string_view key, bool otherwise)
{
  const auto place = object.find(key);
  return place ? place->truth(in_quotes(key)) : otherwise;
}

// One mode of a halo policy. The original takes any value and behaves as "local" for all but the
// two active ones, which is what the lenient reader makes of it.
template <class Mode>
Mode read_mode(const JsonPlace &policy, std::string_view key, Mode otherwise)
{
  const auto place = policy.find(key);
  if (!place) return otherwise;
  if (place->value().is_string())
    if (const auto mode = from_name<Mode>(place->value().get_ref<const std::string &>()))
      return *mode;
  if (!place->lenient()) place->refuse_word("The " + std::string(key), words_of<Mode>());
  place->warn("The " + std::string(key) + " is not known and behaves as \"local\"",
              "Legal: " + list_names(words_of<Mode>()));
  return Mode::Local;
}

StoragePolicy read_policy(const JsonPlace &place)
{
  place.expect_object("The policy");
  const PolicyKind kind = place.at("kind").word<PolicyKind>("The policy kind");
  if (!has_halo_modes(kind)) {
    place.expect_keys(kPlainPolicyKeys);
    return {kind, ScatterMode::Local, GatherMode::Local};
  }
  place.expect_keys(kHaloPolicyKeys);
  const StoragePolicy defaults = kind == PolicyKind::Halo ? halo_policy() : refresh_halo_policy();
  return {kind, read_mode(place, "scatter_mode", defaults.scatter_mode),
          read_mode(place, "gather_mode", defaults.gather_mode)};
}

// Positions are decimal numbers written as keys; "01" is 1.
int read_position(const std::string &key, const JsonPlace &place)
{
  std::string_view digits = key;
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  int position = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), position);
  if (error != std::errc{} || end != digits.data() + digits.size())
    place.refuse("The position " + shown(key) + " is not a whole number",
                 "Count arguments (or results) from 0: \"0\", \"1\", ...");
  return position;
}

void read_transform(const JsonPlace &place, ArgTransform &transform)
{
  transform = place.at("type").word<ArgTransform>("The argument transform");
  for (const auto &[key, value] : place.members())
    if (key != "type")
      value.refuse("The field " + in_quotes(key) + " does not belong to this transform",
                   "Remove it; an argument transform has a \"type\" alone");
}

void read_transform(const JsonPlace &place, OutputTransform &transform)
{
  transform.kind = place.at("type").word<OutputTransformKind>("The output transform");
  const bool sums = transform.kind == OutputTransformKind::AllReduceSum;
  for (const auto &[key, value] : place.members()) {
    if (key == "type") continue;
    if (!sums || key != "replicated_consumer")
      value.refuse("The field " + in_quotes(key) + " does not belong to this transform",
                   sums ? "all_reduce_sum has \"type\" and \"replicated_consumer\""
                        : "Remove it; this transform has a \"type\" alone");
    transform.replicated_consumer = value.truth("\"replicated_consumer\"");
  }
}

template <class Transform>
std::map<int, Transform> read_transforms(const JsonPlace &entry, std::string_view key)
{
  std::map<int, Transform> transforms;
  const auto place = entry.find(key);
  if (!place) return transforms;
  place->expect_object(in_quotes(key));
  for (const auto &[position, value] : place->members()) {
    value.expect_object("A transform");
    Transform transform{};
    read_transform(value, transform);
    transforms[read_position(position, value)] = transform;
  }
  return transforms;
}

OpAdapter read_op(const JsonPlace &place)
{
  place.expect_object("A custom_ops entry");
  place.expect_keys(kOpKeys);
  const JsonPlace op = place.at("op");
  OpAdapter adapter;
  adapter.op = op.text("The operator's name");
  const std::size_t colons = adapter.op.find("::");
  if (colons == std::string::npos || colons == 0 || colons + 2 == adapter.op.size())
    op.refuse("An operator is named as \"<namespace>::<name>\"", "Write both parts");
  if (adapter.op.find('.') != std::string::npos)
    op.refuse("An operator is named without its overload", "Remove the dot and what follows it");
  adapter.arg_transforms = read_transforms<ArgTransform>(place, "arg_transforms");
  adapter.output_transforms = read_transforms<OutputTransform>(place, "output_transforms");
  return adapter;
}

std::string text_at(const JsonPlace &place, std::string_view key)
{
  return place.at(key).name(in_quotes(key));
}

std::string text_or(const JsonPlace &place, std::string_view key, const std::string &otherwise)
{
  const auto found = place.find(key);
  return found ? found->name(in_quotes(key)) : otherwise;
}

std::optional<std::string> read_replacement(const JsonPlace &place)
{
  const auto found = place.find("replacement");
  if (!found) return std::nullopt;
  const auto name = found->optional_name("\"replacement\"");
  return name && !name->empty() ? name : std::nullopt;
}

HelperAdapter read_helper(const JsonPlace &place)
{
  place.expect_object("A third_party_helpers entry");
  const JsonPlace kind_place = place.at("kind");
  const std::string kind =
      kind_place.value().is_string() ? kind_place.value().get<std::string>() : std::string{};
  if (kind == "python") {
    place.expect_keys(kPythonKeys);
    return PythonHelper{text_at(place, "module_path"), text_at(place, "attr_name"),
                        read_replacement(place)};
  }
  if (kind == "jit") {
    place.expect_keys(kJitKeys);
    return JitHelper{text_at(place, "module_path"), text_at(place, "attr_name"),
                     read_replacement(place), text_or(place, "mode", "eager")};
  }
  if (kind == "method") {
    place.expect_keys(kMethodKeys);
    return MethodHelper{text_at(place, "module_path"), text_at(place, "class_name"),
                        text_at(place, "method_name"), read_replacement(place),
                        text_or(place, "mode", "wrap")};
  }
  if (kind == "module_forward") {
    place.expect_keys(kModuleForwardKeys);
    const std::string label = text_or(place, "label", "module_forward");
    return ModuleForwardHelper{text_or(place, "target", "<declared module_forward:" + label + ">"),
                               label};
  }
  kind_place.refuse_word("The helper kind", kHelperKinds);
}

// A list of entries; {} stands for none, as the original's reader has it.
template <class Entry, class ReadEntry>
std::vector<Entry> read_entries(const JsonPlace &core, std::string_view key, ReadEntry read_entry)
{
  std::vector<Entry> entries;
  const auto place = core.find(key);
  if (!place || (place->value().is_object() && place->value().empty())) return entries;
  place->expect_array(in_quotes(key));
  for (const JsonPlace &entry : place->elements()) entries.push_back(read_entry(entry));
  return entries;
}

// A list of names. The original takes a string letter by letter and an object by its keys.
std::vector<std::string> read_names(const JsonPlace &place, const std::string &what)
{
  std::vector<std::string> names;
  if (place.lenient() && place.value().is_string()) {
    place.warn(what + " must be an array of strings; each letter is taken for a name",
               "Write [\"...\"]");
    for (char letter : place.value().get_ref<const std::string &>()) names.emplace_back(1, letter);
    return names;
  }
  if (place.lenient() && place.value().is_object()) {
    place.warn(what + " must be an array of strings; the keys are taken for the names",
               "Write [\"...\"]");
    for (const auto &[key, value] : place.members()) names.push_back(key);
    return names;
  }
  place.expect_array(what);
  for (const JsonPlace &element : place.elements())
    names.push_back(element.name("A name in " + what));
  return names;
}

std::set<std::string> read_name_set(const JsonPlace &object, std::string_view key)
{
  const auto place = object.find(key);
  if (!place) return {};
  const auto names = read_names(*place, in_quotes(key));
  return {names.begin(), names.end()};
}

std::map<std::string, OutputKind> read_output_kinds(const JsonPlace &object)
{
  std::map<std::string, OutputKind> kinds;
  const auto place = object.find("output_kinds");
  if (!place || is_falsy(place->value())) return kinds;
  if (place->value().is_object()) {
    for (const auto &[name, kind] : place->members())
      kinds[name] = kind.word<OutputKind>("The kind of output " + in_quotes(name));
    return kinds;
  }
  place->expect_array("\"output_kinds\"");
  for (const JsonPlace &pair : place->elements()) {
    const auto parts = pair.value().is_array() ? pair.elements() : std::vector<JsonPlace>{};
    if (parts.size() != 2)
      pair.refuse(
          "An entry of \"output_kinds\" is a name and a kind",
          "Write [\"<output>\", \"<kind>\"]; kinds are " + list_names(words_of<OutputKind>()));
    const std::string name = parts[0].name("The name of an output");
    kinds[name] = parts[1].word<OutputKind>("The kind of output " + in_quotes(name));
  }
  return kinds;
}

std::optional<CompilePolicy> read_compile(const JsonPlace &object)
{
  const auto place = object.find("compile");
  if (!place || is_falsy(place->value())) return std::nullopt;
  place->expect_object("\"compile\"");
  place->expect_keys(kCompileKeys);
  CompilePolicy policy;
  policy.static_shapes = truth_or(*place, "static_shapes", true);
  policy.force_strategy = place->at("force_strategy").word<ForceStrategy>("The force strategy");
  policy.stress_via_strain = truth_or(*place, "stress_via_strain", false);
  return policy;
}

void check_reductions(const JsonPlace &object, const MLIPSpec &spec)
{
  for (const std::string &output : spec.all_reduce_outputs) {
    if (spec.owned_only_outputs.contains(output))
      object.at("all_reduce_outputs")
          .object_to("The output " + in_quotes(output) +
                         " is in owned_only_outputs and in all_reduce_outputs",
                     "Leave it in one: all_reduce for partial sums, owned_only for rows");
    if (output_kind(spec, output) == OutputKind::PerNode)
      object.at("all_reduce_outputs")
          .object_to("The output " + in_quotes(output) +
                         " has one row per atom, so ranks can't sum it: they hold other atoms",
                     "Remove it from all_reduce_outputs, or give it the kind per_graph");
  }
}

void check_version(const JsonPlace &object)
{
  const JsonPlace version = object.at("version");
  if (!version.value().is_number() || version.value().get<double>() != 2.0)
    version.refuse("Version 2 of the spec format was expected", "Write \"version\": 2");
}

}    // namespace

std::span<const std::string_view> wire_keys() { return kWireKeys; }

MLIPSpec read_wire_object(const JsonPlace &object, std::span<const std::string_view> others)
{
  object.expect_object("A spec");
  check_version(object);
  std::vector<std::string_view> known(kWireKeys.begin(), kWireKeys.end());
  known.insert(known.end(), others.begin(), others.end());
  object.expect_keys(known);

  const JsonPlace core = object.at("core");
  core.expect_object("\"core\"");
  core.expect_keys(kCoreKeys);
  MLIPSpec spec;
  spec.distribution.policy = read_policy(core.at("policy"));
  spec.distribution.custom_ops = read_entries<OpAdapter>(core, "custom_ops", read_op);
  spec.distribution.third_party_helpers =
      read_entries<HelperAdapter>(core, "third_party_helpers", read_helper);
  if (const auto fields = core.find("shard_fields"))
    spec.distribution.shard_fields = read_names(*fields, "\"shard_fields\"");

  spec.system_reductions = truth_or(object, "system_reductions", true);
  if (const auto key = object.find("node_energy_key"))
    spec.node_energy_key = key->optional_name("\"node_energy_key\"");
  if (const auto key = object.find("node_virial_key"))
    spec.node_virial_key = key->optional_name("\"node_virial_key\"");
  spec.gp_replicate_geometry = truth_or(object, "gp_replicate_geometry", false);
  spec.owned_only_outputs = read_name_set(object, "owned_only_outputs");
  spec.all_reduce_outputs = read_name_set(object, "all_reduce_outputs");
  spec.output_kinds = read_output_kinds(object);
  spec.compile = read_compile(object);
  check_reductions(object, spec);
  return spec;
}

MLIPSpec read_wire_text(const std::string &text, const std::string &path, Reading reading,
                        std::vector<std::string> *warnings)
{
  const nlohmann::ordered_json tree = parse_json_text(text, path, warnings);
  const ReadContext context{path, {}, reading, warnings, {}};
  return read_wire_object(JsonPlace(tree, "", context));
}

}    // namespace mlip_dd
