#include "pipeline/wiring.h"

#include <algorithm>

#include "base/error.h"
#include "base/quote.h"

namespace mlip_dd {

namespace {

bool has(const std::vector<std::string> &names, const std::string &name)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string listed(const std::vector<std::string> &names)
{
  std::string text;
  for (const std::string &name : names) text += (text.empty() ? "" : ", ") + in_quotes(name);
  return text.empty() ? "none" : text;
}

class Resolver {
 public:
  Resolver(const PipelineSpec &pipeline, const std::vector<StepFields> &fields,
           const std::string &path)
      : fields_(fields), where_(path + ", /pipeline/groups")
  {
    for (const PipelineGroup &group : pipeline.groups) {
      const std::size_t first = steps_.size();
      for (const PipelineStep &step : group.steps) steps_.push_back({&step, &group, first});
    }
    wiring_.wires.resize(steps_.size());
    wiring_.host_fields.resize(steps_.size());
  }

  Wiring resolve()
  {
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      for (const auto &[input, source] : steps_[s].step->wire) add_written(s, input, source);
      for (const std::string &input : fields_[s].inputs)
        if (!steps_[s].step->wire.contains(input)) add_by_name(s, input);
    }
    put_producers_first();
    return std::move(wiring_);
  }

 private:
  struct Place {
    const PipelineStep *step;
    const PipelineGroup *group;
    std::size_t first_of_group;
  };

  const std::string &name(std::size_t s) const { return steps_[s].step->model; }

  void add_written(std::size_t s, const std::string &input, const WireSource &source)
  {
    if (!has(fields_[s].inputs, input))
      throw Error(
          {"the model " + in_quotes(name(s)) + " takes no per-atom input " + in_quotes(input),
           "wired from " + in_quotes(source.model + "." + source.output), where_,
           "Its per-atom inputs are: " + listed(fields_[s].inputs)});
    const std::size_t producer = step_of(source.model);
    if (!has(fields_[producer].outputs, source.output))
      throw Error({"the model " + in_quotes(source.model) + " makes no per-atom output " +
                       in_quotes(source.output) + ", which is wired to " +
                       in_quotes(name(s) + "." + input),
                   "", where_,
                   "Its per-atom outputs are: " + listed(fields_[producer].outputs) +
                       ". Others are named in its /model/outputs"});
    wiring_.wires[s].push_back({input, producer, source.output});
  }

  void add_by_name(std::size_t s, const std::string &input)
  {
    std::vector<std::size_t> makers;
    for (std::size_t other = steps_[s].first_of_group; other < s; ++other)
      if (has(fields_[other].outputs, input)) makers.push_back(other);
    if (makers.empty()) {
      wiring_.host_fields[s].push_back(input);
      return;
    }
    std::vector<std::string> names;
    for (const std::size_t maker : makers) names.push_back(name(maker));
    if (makers.size() > 1)
      throw Error(
          {"several models of a group make what the model " + in_quotes(name(s)) + " takes as " +
               in_quotes(input),
           listed(names), where_,
           "Wire one of them: \"wire\": {" + in_quotes(input) + ": \"<model>." + input + "\"}"});
    if (!steps_[s].group->autograd)
      throw Error({"the model " + in_quotes(name(s)) + " takes " + in_quotes(input) +
                       ", which an earlier model of its group makes, in a group without autograd, "
                       "whose forces would miss how it depends on positions",
                   listed(names), where_,
                   "Set \"autograd\": true; or, to take the field from the atoms, put the model "
                   "into a group of its own"});
    wiring_.wires[s].push_back({input, makers.front(), input});
    wiring_.found.push_back(name(s) + "." + input + " is taken from " + name(makers.front()) + "." +
                            input);
  }

  std::size_t step_of(const std::string &model) const
  {
    return static_cast<std::size_t>(
        std::find_if(steps_.begin(), steps_.end(),
                     [&](const Place &place) { return place.step->model == model; }) -
        steps_.begin());
  }

  void put_producers_first()
  {
    std::vector<bool> done(steps_.size(), false);
    const auto ready = [&](std::size_t s) {
      return !done[s] && std::all_of(wiring_.wires[s].begin(), wiring_.wires[s].end(),
                                     [&](const FieldWire &wire) { return done[wire.producer]; });
    };
    while (wiring_.order.size() < steps_.size()) {
      std::size_t s = 0;
      while (s < steps_.size() && !ready(s)) ++s;
      if (s == steps_.size())
        throw Error({"wires go round in a circle", "", where_, "Remove one of them"});
      done[s] = true;
      wiring_.order.push_back(s);
    }
  }

  const std::vector<StepFields> &fields_;
  std::string where_;
  std::vector<Place> steps_;
  Wiring wiring_;
};

}    // namespace

Wiring resolve_wiring(const PipelineSpec &pipeline, const std::vector<StepFields> &fields,
                      const std::string &path)
{
  return Resolver(pipeline, fields, path).resolve();
}

}    // namespace mlip_dd
