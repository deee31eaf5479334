#include "extracted_values.h"

#include <limits>

#include "base/error.h"

namespace mlip_dd {

namespace {

// Indices of entry k in row-major order, from 1.
std::string indices(const std::vector<std::int64_t> &shape, std::int64_t k)
{
  std::string text;
  for (auto length = shape.rbegin(); length != shape.rend(); ++length) {
    std::string longer("[");
    longer.append(std::to_string(k % *length + 1)).append("]").append(text);
    text = longer;
    k /= *length;
  }
  return text;
}

}    // namespace

void ExtractedValues::set_source(const Pipeline &pipeline)
{
  known_.clear();
  places_.clear();
  for (std::size_t step = 0; step < pipeline.size(); ++step)
    for (const auto &[name, rule] : pipeline.runner(step).potential().system_outputs())
      known_[name] |= rule.kind != OutputKind::Unknown;
}

double *ExtractedValues::find(const std::string &name)
{
  const std::string output = name.substr(0, name.find('['));
  if (!known_.contains(output)) return nullptr;
  asked_for_.insert(output);
  const auto fresh = values_.try_emplace(name, std::numeric_limits<double>::quiet_NaN()).first;
  const auto places = places_.find(output);
  if (places == places_.end()) return &fresh->second;
  std::string names;
  for (const Place &place : places->second) {
    if (place == fresh) return &fresh->second;
    names += (names.empty() ? "" : ", ") + place->first;
  }
  throw Error({"the output has no number of this name", name, "pair_style mlip/dd",
               "Ask for one of: " + names});
}

void ExtractedValues::add_wanted(Communicator &communicator, PipelineRequest &request)
{
  std::vector<std::int64_t> asked;
  for (const auto &[output, has_kind] : known_)
    if (!has_kind) asked.push_back(asked_for_.contains(output) ? 1 : 0);
  if (!asked.empty()) communicator.max(asked);
  auto next = asked.begin();
  for (const auto &[output, has_kind] : known_)
    if (!has_kind && *next++ != 0) asked_for_.insert(output);
  for (const auto &[output, has_kind] : known_)
    if (has_kind || asked_for_.contains(output)) request.system_outputs.push_back(output);
}

void ExtractedValues::take(const Pipeline &pipeline)
{
  for (const auto &[output, value] : pipeline.output().systems) {
    std::vector<Place> &places = places_[output];
    for (std::size_t k = places.size(); k < value.values.size(); ++k)
      places.push_back(
          values_
              .try_emplace(value.values.size() == 1
                               ? output
                               : output + indices(value.shape, static_cast<std::int64_t>(k)))
              .first);
    for (std::size_t k = 0; k < value.values.size(); ++k) places[k]->second = value.values[k];
  }
}

}    // namespace mlip_dd
