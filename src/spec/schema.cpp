#include "spec/schema.h"

#include <limits>
#include <string>
#include <vector>

#include "spec/elements.h"
#include "spec/families.h"
#include "spec/model_read.h"
#include "spec/names.h"
#include "spec/potentials.h"
#include "spec/presets.h"

namespace mlip_dd {

namespace {

using Json = nlohmann::ordered_json;

const char *const kPosition = R"(^([+]|-)?0*[0-9]{1,10}$)";

Json reference(const std::string &name) { return {{"$ref", "#/definitions/" + name}}; }
Json one_of(std::span<const std::string_view> words) { return {{"enum", words}}; }
template <class Enum>
Json word_of()
{
  return one_of(words_of<Enum>());
}
Json string() { return {{"type", "string"}}; }
Json non_empty() { return {{"type", "string"}, {"minLength", 1}}; }
Json boolean() { return {{"type", "boolean"}}; }
Json nullable_string() { return {{"type", Json::array({"string", "null"})}}; }
Json array_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
Json nothing() { return {{"enum", Json::parse(R"([null, false, 0, "", [], {}])")}}; }
Json empty_object() { return {{"type", "object"}, {"maxProperties", 0}}; }
Json any_of(std::initializer_list<Json> choices) { return {{"anyOf", std::vector<Json>(choices)}}; }
Json described(std::string_view text, Json schema)
{
  schema["description"] = text;
  return schema;
}

// An object that holds these properties and no others.
Json object_of(Json properties, std::vector<std::string> required = {})
{
  Json schema{
      {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}

Json policy()
{
  const Json plain =
      object_of({{"kind", {{"enum", {"local", "shard", "graph_parallel"}}}}}, {"kind"});
  const Json halo = object_of({{"kind", {{"enum", {"halo", "refresh_halo"}}}},
                               {"scatter_mode", word_of<ScatterMode>()},
                               {"gather_mode", word_of<GatherMode>()}},
                              {"kind"});
  return described("How rows are stored over ranks, and what a layer exchanges",
                   any_of({halo, plain}));
}

Json transforms(Json transform)
{
  return {{"type", "object"},
          {"propertyNames", {{"pattern", kPosition}}},
          {"additionalProperties", std::move(transform)}};
}

Json operator_entry()
{
  const Json argument = object_of({{"type", word_of<ArgTransform>()}}, {"type"});
  const Json sum = object_of(
      {{"type", {{"const", "all_reduce_sum"}}}, {"replicated_consumer", boolean()}}, {"type"});
  const Json other =
      object_of({{"type", {{"enum", {"scatter_outputs", "slice_outputs_owned"}}}}}, {"type"});
  return object_of({{"op", {{"type", "string"}, {"pattern", "^[^.:][^.]*::[^.]+$"}}},
                    {"arg_transforms", transforms(argument)},
                    {"output_transforms", transforms(any_of({sum, other}))}},
                   {"op"});
}

Json helper(const char *kind, Json properties, const std::vector<std::string> &required)
{
  Json all{{"kind", {{"const", kind}}}};
  all.update(properties);
  std::vector<std::string> needed{"kind"};
  needed.insert(needed.end(), required.begin(), required.end());
  return object_of(all, needed);
}

Json helper_entry()
{
  const Json replacement = nullable_string();
  return any_of(
      {helper("python",
              {{"module_path", string()}, {"attr_name", string()}, {"replacement", replacement}},
              {"module_path", "attr_name"}),
       helper("jit",
              {{"module_path", string()},
               {"attr_name", string()},
               {"replacement", replacement},
               {"mode", string()}},
              {"module_path", "attr_name"}),
       helper("method",
              {{"module_path", string()},
               {"class_name", string()},
               {"method_name", string()},
               {"replacement", replacement},
               {"mode", string()}},
              {"module_path", "class_name", "method_name"}),
       helper("module_forward", {{"target", string()}, {"label", string()}}, {})});
}

Json wire_properties()
{
  const Json kind = word_of<OutputKind>();
  const Json pair{{"type", "array"},
                  {"items", Json::array({string(), kind})},
                  {"minItems", 2},
                  {"maxItems", 2}};
  const Json core =
      object_of({{"policy", reference("policy")},
                 {"custom_ops", any_of({array_of(reference("operator")), empty_object()})},
                 {"third_party_helpers", any_of({array_of(reference("helper")), empty_object()})},
                 {"shard_fields", array_of(string())}},
                {"policy"});
  const Json compile = object_of({{"static_shapes", boolean()},
                                  {"force_strategy", word_of<ForceStrategy>()},
                                  {"stress_via_strain", boolean()}},
                                 {"force_strategy"});
  return {
      {"version", {{"const", 2}}},
      {"core", core},
      {"system_reductions", boolean()},
      {"node_energy_key", nullable_string()},
      {"node_virial_key", nullable_string()},
      {"gp_replicate_geometry", boolean()},
      {"owned_only_outputs", array_of(string())},
      {"all_reduce_outputs", array_of(string())},
      {"output_kinds",
       any_of({array_of(pair), {{"type", "object"}, {"additionalProperties", kind}}, nothing()})},
      {"compile", any_of({compile, nothing()})}};
}

Json roles(std::span<const std::string_view> names)
{
  Json properties = Json::object();
  for (std::string_view name : names) properties[std::string(name)] = non_empty();
  Json schema = object_of(properties);
  schema["additionalProperties"] = non_empty();    // per-atom fields
  schema["propertyNames"] = {{"pattern", "^[^.]+$"}};
  return schema;
}

// Keys that one class of potentials needs or may not have.
Json model_rules()
{
  std::vector<std::string_view> with_file, native, need_cutoff, with_names;
  for (const PotentialInfo &potential : known_potentials()) {
    (potential.has_file ? with_file : native).push_back(potential.name);
    if (potential.needs_cutoff) need_cutoff.push_back(potential.name);
  }
  for (const Family &family : families())
    if (!family.inputs.empty() && !family.outputs.empty()) with_names.push_back(family.name);
  const auto when = [](std::span<const std::string_view> potentials, Json then) {
    return Json{{"if", {{"properties", {{"potential", one_of(potentials)}}}}},
                {"then", std::move(then)}};
  };
  Json without = Json::object();
  for (const char *key :
       {"family", "file", "inputs", "outputs", "autograd_outputs", "libraries", "dtype"})
    without[key] = false;
  const Json named{{"properties", {{"family", one_of(with_names)}}}, {"required", {"family"}}};
  const Json maps{
      {"required", {"inputs", "outputs"}},
      {"properties", {{"inputs", {{"minProperties", 1}}}, {"outputs", {{"minProperties", 1}}}}}};
  Json file_rule = when(with_file, {{"required", {"file"}}});
  file_rule["then"]["if"] = named;
  file_rule["then"]["else"] = maps;
  const Json elements{
      {"if", {{"properties", {{"units", {{"const", "lj"}}}}}, {"required", {"units"}}}},
      {"then", Json::object()},
      {"else", {{"properties", {{"elements", {{"items", one_of(element_symbols())}}}}}}}};
  return Json::array({file_rule, when(native, {{"properties", without}}),
                      when(need_cutoff, {{"required", {"cutoff"}}}), elements});
}

Json model()
{
  std::vector<std::string_view> family_names;
  for (const Family &family : families()) family_names.push_back(family.name);
  Json schema = object_of(
      {{"potential", described("What computes", one_of(potential_names()))},
       {"family", described("Names the model's inputs and outputs", one_of(family_names))},
       {"file",
        described("The model file, relative to this file; or a list: a committee, whose mean "
                  "is taken",
                  {{"anyOf",
                    {non_empty(), {{"type", "array"}, {"items", non_empty()}, {"minItems", 1}}}}})},
       {"cutoff", described("Of edges, in the length unit of `units`",
                            {{"type", "number"}, {"exclusiveMinimum", 0}})},
       {"layers",
        described(
            "Rounds of message passing",
            {{"type", "integer"}, {"minimum", 0}, {"maximum", std::numeric_limits<int>::max()}})},
       {"elements",
        described(
            "Chemical symbols in the order of the model's types",
            {{"type", "array"}, {"items", non_empty()}, {"minItems", 1}, {"uniqueItems", true}})},
       {"units", described("The model's units, by LAMMPS's name", one_of(unit_names()))},
       {"dtype", described("Floating type to compute in", one_of(dtype_names()))},
       {"inputs", described("Our name -> the model's", roles(input_roles()))},
       {"outputs", described("Our name -> the model's", roles(output_roles()))},
       {"autograd_outputs",
        described("Outputs that the model makes by differentiating", array_of(non_empty()))},
       {"libraries",
        described("Shared libraries with the model's operators", array_of(non_empty()))},
       {"citations", described("What to cite for the model: BibTeX", array_of(non_empty()))},
       {"parameters", described("The potential's own", {{"type", "object"}})}},
      {"potential", "elements"});
  schema["allOf"] = model_rules();
  return schema;
}

// The policy in place or by "spec", with these keys beside it.
Json with_policy(const Json &others, std::vector<std::string> required)
{
  Json in_place = wire_properties(), named{{"spec", reference("spec")}};
  in_place.update(others);
  named.update(others);
  std::vector<std::string> needs_version{"version", "core"}, needs_spec{"spec"};
  needs_version.insert(needs_version.end(), required.begin(), required.end());
  needs_spec.insert(needs_spec.end(), required.begin(), required.end());
  return any_of({object_of(named, needs_spec), object_of(in_place, needs_version)});
}

Json pipeline()
{
  const Json output{{"type", "string"}, {"pattern", "^[^.]+[.].+$"}};
  const Json step_wire{
      {"type", "object"}, {"propertyNames", {{"minLength", 1}}}, {"additionalProperties", output}};
  const Json group_wire{{"type", "object"},
                        {"propertyNames", {{"pattern", "^[^.]+[.].+$"}}},
                        {"additionalProperties", output}};
  const Json step = any_of({string(), object_of({{"model", string()},
                                                 {"wire", step_wire},
                                                 {"weight", {{"type", "number"}}},
                                                 {"neutralize", word_of<Neutralize>()},
                                                 {"total_charge", {{"type", "number"}}},
                                                 {"every", {{"const", 1}}}},
                                                {"model"})});
  Json steps = array_of(step);
  steps["minItems"] = 1;
  Json groups = array_of(
      object_of({{"steps", steps}, {"autograd", boolean()}, {"wire", group_wire}}, {"steps"}));
  groups["minItems"] = 1;
  const Json sub_model =
      any_of({non_empty(),
              with_policy({{"model", reference("model")}, {"$schema", string()}}, {"model"})});
  return object_of({{"models",
                     {{"type", "object"},
                      {"minProperties", 1},
                      {"propertyNames", {{"pattern", "^[^.]+$"}}},
                      {"additionalProperties", sub_model}}},
                    {"groups", groups},
                    {"additive", array_of(non_empty())}},
                   {"models", "groups"});
}

}    // namespace

Json spec_schema()
{
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"title", "Spec file of pair_style mlip/dd"}};
  const Json file = with_policy({{"model", reference("model")}, {"$schema", string()}}, {});
  const Json pipeline_file =
      object_of({{"pipeline", reference("pipeline")}, {"$schema", string()}}, {"pipeline"});
  schema.update(any_of({file, pipeline_file}));
  schema["definitions"] = {{"policy", policy()},
                           {"operator", operator_entry()},
                           {"helper", helper_entry()},
                           {"spec", any_of({described("A preset", one_of(preset_names())),
                                            described("A file, relative to this file", non_empty()),
                                            object_of(wire_properties(), {"version", "core"})})},
                           {"model", model()},
                           {"pipeline", pipeline()}};
  return schema;
}

}    // namespace mlip_dd
