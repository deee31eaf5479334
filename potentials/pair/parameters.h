// Strict reading of /model/parameters by the native pair potentials. No torch.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/json_place.h"
#include "spec/model_spec.h"

namespace mlip_dd {

// The parameters of `model` as a tree whose places name themselves in errors.
class ParameterTree {
 public:
  // Refuses keys outside `known`.
  ParameterTree(const ModelSpec &model, std::span<const std::string_view> known);
  ParameterTree(const ParameterTree &) = delete;
  ParameterTree &operator=(const ParameterTree &) = delete;

  JsonPlace place() const { return JsonPlace(tree_, "/model/parameters", context_); }

  // Refuse a number that is not above zero, or below it; `what` starts the message.
  double positive(std::string_view key, const std::string &what, std::optional<double> otherwise);
  double not_negative(std::string_view key, const std::string &what, double otherwise);

 private:
  nlohmann::ordered_json tree_;
  ReadContext context_;
};

// What a file gives for pairs of elements: one number for all, one per element, or one per pair.
struct PairValues {
  std::vector<double> elements;    // [n]; empty where pairs are given
  std::vector<double> pairs;       // [n, n], symmetric; empty where elements are given
};

// `place` holds a number, an array of n numbers or an n x n matrix, none below zero. Refuses other
// shapes and matrices that are not symmetric.
PairValues read_pair_values(const JsonPlace &place, const std::vector<std::string> &elements,
                            const std::string &what);

// Throws Error where the model's units are not among `units`; `name` is the potential's.
void require_units(const ModelSpec &model, std::span<const std::string_view> units);

// The range of a switch that must fit below `cutoff`. Refuses at "switch_width".
void require_switch_fits(const ParameterTree &tree, std::string_view key, double width,
                         double cutoff);

}    // namespace mlip_dd
