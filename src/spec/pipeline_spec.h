// The `pipeline` object of a spec file: several models, each with its own policy and cutoff, whose
// results are summed, and whose per-atom outputs may feed one another.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "spec/mlip_spec.h"
#include "spec/model_spec.h"

namespace mlip_dd {

struct PipelineModel {
  std::string path;    // the file that describes it: its own, or the pipeline's
  MLIPSpec spec;
  ModelSpec model;
};

// A per-atom output of one model that another takes as an input.
struct WireSource {
  std::string model;
  std::string output;

  bool operator==(const WireSource &) const = default;
};

// What a model does with charges wired to it that do not sum to `total_charge`.
enum class Neutralize {
  None,     // takes them as they are
  Shift,    // adds the same to each, also in the gradient
  Error     // ends the run
};

struct PipelineStep {
  std::string model;                           // a key of PipelineSpec::models
  std::map<std::string, WireSource> wire{};    // input of this model -> where it comes from
  double weight = 1.0;                         // of its energy, and of all that follows from it
  Neutralize neutralize = Neutralize::None;
  double total_charge = 0.0;    // e

  bool operator==(const PipelineStep &) const = default;
};

// Models run together. With `autograd`, forces and stress come from the gradient of the sum of
// their energies, and what one model makes another may take; without, each model's own are added.
struct PipelineGroup {
  std::vector<PipelineStep> steps;
  bool autograd = false;

  bool operator==(const PipelineGroup &) const = default;
};

// Every model stands in exactly one step, and wires form no cycle; the reader sees to both.
struct PipelineSpec {
  std::map<std::string, PipelineModel> models;
  std::vector<PipelineGroup> groups;
  std::vector<std::string> additive{"energy", "forces",
                                    "stress"};    // summed; others: first producer's
};

}    // namespace mlip_dd
