#include "consolidate/system_outputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/error.h"
#include "base/quote.h"

namespace mlip_dd {

namespace {

constexpr std::size_t kMostDimensions = 4;

// Ranks that add up the same numbers in float32 may differ by its rounding; parts of a sum differ
// by much more.
constexpr double kSameValue = 1e-4;

std::size_t size_of(const std::vector<std::int64_t> &shape)
{
  std::int64_t size = 1;
  for (const std::int64_t n : shape) size *= n;
  return static_cast<std::size_t>(size);
}

std::string text_of(const std::vector<std::int64_t> &shape)
{
  std::string text;
  for (const std::int64_t n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}

void require_same(const std::string &name, std::span<const double> own,
                  std::span<const double> first)
{
  double scale = 0.0, apart = 0.0;
  for (std::size_t k = 0; k < own.size(); ++k) {
    scale = std::max(scale, std::abs(first[k]));
    apart = std::max(apart, std::abs(own[k] - first[k]));
  }
  if (apart > kSameValue * scale)
    throw Error({"an output of the system should be the same on all ranks and is not",
                 "two ranks differ by " + std::to_string(apart), "output " + name,
                 "If each rank has a part of it, name it in /all_reduce_outputs; a model that adds "
                 "rows by `batch` has the whole"});
}

}    // namespace

RunningRanks find_running_ranks(Communicator &communicator, bool runs)
{
  std::array<std::int64_t, 1> count{runs ? 1 : 0};
  communicator.sum(count);
  std::array<std::int64_t, 1> lowest{runs ? -communicator.rank() : -communicator.size()};
  communicator.max(lowest);
  return {count[0], count[0] ? static_cast<int>(-lowest[0]) : -1};
}

// False where no rank knows the shape.
bool SystemOutputs::agree_on_shape(Communicator &communicator, const std::string &name,
                                   const SystemValue *own)
{
  if (!shapes_.contains(name)) {
    std::array<std::int64_t, 1 + kMostDimensions> most{};
    if (own) {
      if (own->shape.size() > kMostDimensions)
        throw Error({"an output of the system has too many dimensions", text_of(own->shape),
                     "output " + name, "Give it at most " + std::to_string(kMostDimensions)});
      most[0] = 1 + static_cast<std::int64_t>(own->shape.size());
      std::copy(own->shape.begin(), own->shape.end(), most.begin() + 1);
    }
    communicator.max(most);
    if (most[0] == 0) return false;
    shapes_[name].assign(most.begin() + 1, most.begin() + most[0]);
  }
  if (own && own->shape != shapes_.at(name))
    throw Error({"an output of the system must have one shape on all ranks and in all steps",
                 text_of(own->shape) + " here, " + text_of(shapes_.at(name)) + " elsewhere",
                 "output " + name,
                 "If it has a row for each atom, give it the kind \"per_node\" in /output_kinds"});
  return true;
}

SystemValues SystemOutputs::consolidate(Communicator &communicator, const RunningRanks &running,
                                        const std::map<std::string, OutputRule> &rules,
                                        const SystemValues &own)
{
  const bool first = communicator.rank() == running.first;
  SystemValues made;
  std::vector<double> sums;    // of all outputs
  for (const auto &[name, rule] : rules) {
    const auto found = own.find(name);
    const SystemValue *value = found == own.end() ? nullptr : &found->second;
    if (!agree_on_shape(communicator, name, value)) continue;
    SystemValue &result = made[name];
    result.shape = shapes_.at(name);
    const bool adds = value && (first || consolidation_of(rule, false, name) == Consolidation::sum);
    if (adds)
      sums.insert(sums.end(), value->values.begin(), value->values.end());
    else
      sums.resize(sums.size() + size_of(result.shape), 0.0);
  }
  if (!sums.empty()) communicator.sum(sums);
  std::size_t begin = 0;
  for (auto &[name, result] : made) {
    const std::size_t size = size_of(result.shape);
    result.values.assign(sums.begin() + static_cast<std::ptrdiff_t>(begin),
                         sums.begin() + static_cast<std::ptrdiff_t>(begin + size));
    begin += size;
    const auto found = own.find(name);
    if (found != own.end() && consolidation_of(rules.at(name), false, name) == Consolidation::same)
      require_same(name, found->second.values, result.values);
  }
  return made;
}

}    // namespace mlip_dd
