#include "spec/pipeline_read.h"

#include <algorithm>
#include <array>
#include <set>

#include "spec/families.h"
#include "spec/json_text.h"
#include "spec/model_read.h"
#include "spec/spec_source.h"
#include "spec/wire.h"

namespace mlip_dd {

namespace {

constexpr std::array<std::string_view, 3> kPipelineKeys{"models", "groups", "additive"};
constexpr std::array<std::string_view, 3> kGroupKeys{"steps", "autograd", "wire"};
constexpr std::array<std::string_view, 6> kStepKeys{"model",      "wire",         "weight",
                                                    "neutralize", "total_charge", "every"};
constexpr std::array<std::string_view, 3> kSubModelKeys{"spec", "model", kSchemaKey};

PipelineModel read_sub_model_object(const JsonPlace &place)
{
  if (place.has("pipeline"))
    place.refuse("A pipeline's model can't be a pipeline", "List its models here instead");
  if (!place.has("model"))
    place.refuse("A pipeline's model needs a \"model\" object", "Add it beside the \"spec\"");
  PipelineModel model;
  model.path = place.context().path;
  model.spec = read_policy_source(place, kSubModelKeys);
  model.model = read_model(place.at("model"));
  return model;
}

PipelineModel read_sub_model(const JsonPlace &place)
{
  if (place.value().is_object()) return read_sub_model_object(place);
  if (!place.value().is_string())
    place.refuse("A model of a pipeline is an object or the name of a spec file",
                 "Write {\"spec\": ..., \"model\": {...}} or \"<path>\"");
  ReadContext inner = place.context();
  const std::string path =
      enter_file(place, place.non_empty_text("The name of a spec file"), inner);
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    place.refuse("The spec file " + path + " does not exist",
                 "Give a path relative to " + place.context().path);
  const auto tree = parse_json_text(read_text_file(path), path, inner.warnings);
  const JsonPlace top(tree, "", inner);
  top.expect_object("A spec file");
  return read_sub_model_object(top);
}

// "q.charges": output `charges` of model `q`. Model names hold no dot, so the first one divides.
WireSource read_source(const JsonPlace &place, const std::set<std::string> &in_group)
{
  const std::string text = place.text("The source of a wire");
  const std::size_t dot = text.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == text.size())
    place.refuse("A wire comes from an output of a model", "Write \"<model>.<output>\"");
  WireSource source{text.substr(0, dot), text.substr(dot + 1)};
  if (!in_group.contains(source.model)) {
    const std::vector<std::string_view> names(in_group.begin(), in_group.end());
    place.refuse(
        "The wire comes from " + in_quotes(source.model) + ", which is no model of its group",
        did_you_mean(source.model, names) + "Models of the group: " + list_names(names));
  }
  return source;
}

void add_wire(PipelineStep &step, const std::string &input, const JsonPlace &place,
              const std::set<std::string> &in_group)
{
  if (input.empty()) place.refuse("A wire leads to an input", "Name the input");
  const WireSource source = read_source(place, in_group);
  if (source.model == step.model)
    place.refuse("The model " + in_quotes(step.model) + " is wired to itself",
                 "Name another model");
  if (!step.wire.emplace(input, source).second)
    place.refuse(
        "The input " + in_quotes(input) + " of " + in_quotes(step.model) + " is wired twice",
        "Leave one of the wires");
}

// Steps in an order in which every producer comes before its consumers exist exactly when removing
// models without an unfinished producer empties the group.
void refuse_cycles(const JsonPlace &place, const PipelineGroup &group)
{
  std::vector<const PipelineStep *> left;
  for (const PipelineStep &step : group.steps) left.push_back(&step);
  const auto waits = [&left](const PipelineStep *step) {
    return std::any_of(step->wire.begin(), step->wire.end(), [&left](const auto &wire) {
      return std::any_of(left.begin(), left.end(), [&wire](const PipelineStep *other) {
        return other->model == wire.second.model;
      });
    });
  };
  while (!left.empty()) {
    const auto ready = std::find_if_not(left.begin(), left.end(), waits);
    if (ready == left.end()) {
      std::string names;
      for (const PipelineStep *step : left) names.append(" ").append(in_quotes(step->model));
      place.refuse("Wires go round in a circle among" + names, "Remove one of their wires");
    }
    left.erase(ready);
  }
}

PipelineStep read_step(const JsonPlace &place)
{
  if (place.value().is_string()) return {place.text("A step")};
  if (!place.value().is_object())
    place.refuse("A step is a model's name or an object",
                 "Write \"<model>\" or {\"model\": \"<model>\", \"wire\": {...}}");
  place.expect_keys(kStepKeys);
  PipelineStep step{place.at("model").text("A step's model")};
  if (const auto weight = place.find("weight")) step.weight = weight->finite_number("A weight");
  if (const auto how = place.find("neutralize"))
    step.neutralize = how->word<Neutralize>("\"neutralize\"");
  if (const auto charge = place.find("total_charge")) {
    if (step.neutralize == Neutralize::None)
      charge->refuse("The total charge is used only with \"neutralize\"",
                     "Add \"neutralize\": \"shift\" or \"error\", or remove the key");
    step.total_charge = charge->finite_number("The total charge");
  }
  // Forces of some steps alone are no gradient of any energy, so energy would drift.
  if (const auto every = place.find("every"); every && every->value() != 1)
    every->refuse("Each model of a pipeline is evaluated at each timestep",
                  "Remove \"every\"; to save time, give the model a smaller cutoff");
  return step;
}

// The steps' models first, since wires may come from a later step.
std::vector<std::pair<PipelineStep, std::optional<JsonPlace>>> read_steps(const JsonPlace &group)
{
  std::vector<std::pair<PipelineStep, std::optional<JsonPlace>>> steps;
  const JsonPlace place = group.at("steps");
  place.expect_array("\"steps\"");
  if (place.value().empty()) place.refuse("A group needs a step", "Name a model in it");
  for (const JsonPlace &entry : place.elements())
    steps.push_back({read_step(entry),
                     entry.value().is_object() ? entry.find("wire") : std::optional<JsonPlace>()});
  return steps;
}

PipelineGroup read_group(const JsonPlace &place)
{
  place.expect_object("A group");
  place.expect_keys(kGroupKeys);
  PipelineGroup group;
  if (const auto autograd = place.find("autograd"))
    group.autograd = autograd->truth("\"autograd\"");
  const auto steps = read_steps(place);
  std::set<std::string> in_group;
  for (const auto &[step, wire] : steps) in_group.insert(step.model);
  for (auto [step, wire] : steps) {
    if (wire) {
      wire->expect_object("\"wire\"");
      for (const auto &[input, source] : wire->members()) add_wire(step, input, source, in_group);
    }
    group.steps.push_back(std::move(step));
  }
  if (const auto wires = place.find("wire")) {
    wires->expect_object("\"wire\"");
    for (const auto &[target, source] : wires->members()) {
      const std::size_t dot = target.find('.');
      const std::string model = target.substr(0, dot);
      const auto step = std::find_if(group.steps.begin(), group.steps.end(),
                                     [&](const PipelineStep &s) { return s.model == model; });
      if (dot == std::string::npos || step == group.steps.end())
        source.refuse("A group's wire leads to an input of one of its models",
                      "Write \"<model>.<input>\": \"<model>.<output>\"");
      add_wire(*step, target.substr(dot + 1), source, in_group);
    }
  }
  refuse_cycles(place, group);
  for (const PipelineStep &step : group.steps) {
    if (!step.wire.empty() && !group.autograd)
      place.refuse("The model " + in_quotes(step.model) +
                       " is wired in a group whose forces would miss how the wired values depend "
                       "on positions",
                   "Set \"autograd\": true");
    if (step.neutralize != Neutralize::None && !step.wire.contains(std::string(kChargesField)))
      place.refuse("The model " + in_quotes(step.model) +
                       " is to neutralise charges, but none "
                       "are wired to it",
                   "Wire \"charges\" to it, or remove \"neutralize\"");
  }
  return group;
}

void check_use(const JsonPlace &place, const PipelineSpec &pipeline)
{
  std::vector<std::string_view> names;
  for (const auto &[name, model] : pipeline.models) names.push_back(name);
  std::set<std::string> used;
  for (const PipelineGroup &group : pipeline.groups)
    for (const PipelineStep &step : group.steps) {
      if (!pipeline.models.contains(step.model))
        place.at("groups").refuse(
            "A step names " + in_quotes(step.model) + ", which is no model of the pipeline",
            did_you_mean(step.model, names) + "Models: " + list_names(names));
      if (!used.insert(step.model).second)
        place.at("groups").refuse("The model " + in_quotes(step.model) +
                                      " stands in two steps, so that it would count twice",
                                  "Leave one of them");
    }
  for (const auto &[name, model] : pipeline.models)
    if (!used.contains(name))
      place.at("models").refuse("The model " + in_quotes(name) + " stands in no step",
                                "Add it to a group's \"steps\", or remove it");
}

}    // namespace

PipelineSpec read_pipeline(const JsonPlace &place)
{
  place.expect_object("\"pipeline\"");
  place.expect_keys(kPipelineKeys);
  PipelineSpec pipeline;
  const JsonPlace models = place.at("models");
  models.expect_object("\"models\"");
  if (models.value().empty()) models.refuse("A pipeline needs a model", "Add one");
  for (const auto &[name, model] : models.members()) {
    if (name.empty() || name.find('.') != std::string::npos)
      model.refuse("A model's name must not be empty or hold a dot", "Rename it");
    pipeline.models.emplace(name, read_sub_model(model));
  }
  const JsonPlace groups = place.at("groups");
  groups.expect_array("\"groups\"");
  if (groups.value().empty()) groups.refuse("A pipeline needs a group", "Add one");
  for (const JsonPlace &group : groups.elements()) pipeline.groups.push_back(read_group(group));
  if (const auto additive = place.find("additive")) {
    pipeline.additive.clear();
    additive->expect_array("\"additive\"");
    for (const JsonPlace &name : additive->elements())
      pipeline.additive.push_back(name.non_empty_text("An additive output"));
  }
  check_use(place, pipeline);
  return pipeline;
}

namespace {

// The model's name alone where nothing else is said.
nlohmann::ordered_json to_json(const PipelineStep &step)
{
  if (step == PipelineStep{step.model}) return step.model;
  nlohmann::ordered_json object{{"model", step.model}};
  for (const auto &[input, source] : step.wire)
    object["wire"][input] = source.model + "." + source.output;
  if (step.weight != 1.0) object["weight"] = step.weight;
  if (step.neutralize != Neutralize::None) {
    object["neutralize"] = to_name(step.neutralize);
    object["total_charge"] = step.total_charge;
  }
  return object;
}

}    // namespace

nlohmann::ordered_json to_json(const PipelineSpec &pipeline)
{
  using Json = nlohmann::ordered_json;
  Json object;
  object["models"] = Json::object();
  for (const auto &[name, model] : pipeline.models) {
    Json entry = to_wire(model.spec);
    entry["model"] = to_json(model.model);
    object["models"][name] = std::move(entry);
  }
  object["groups"] = Json::array();
  for (const PipelineGroup &group : pipeline.groups) {
    Json steps = Json::array();
    for (const PipelineStep &step : group.steps) {
      steps.push_back(to_json(step));
    }
    object["groups"].push_back(Json{{"steps", std::move(steps)}, {"autograd", group.autograd}});
  }
  object["additive"] = pipeline.additive;
  return object;
}

}    // namespace mlip_dd
