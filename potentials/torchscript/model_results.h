// What a scripted model returned, read by role and held against what its spec declares: this rank's
// part of energy, forces and virial, and the fields that others ask for.
#pragma once

#include <ATen/core/ivalue.h>

#include <map>
#include <string>
#include <vector>

#include "consolidate/output_rules.h"
#include "pipeline/potential.h"
#include "potentials/torchscript/model_call.h"
#include "spec/mlip_spec.h"
#include "spec/model_spec.h"

namespace mlip_dd {

// Which output holds the energy that is differentiated and reported.
enum class EnergySource {
  none,     // the model only makes fields for others
  nodes,    // node_energy, summed over owned rows
  part,     // energy, of which each rank has a part
  whole     // energy, which each rank has whole
};

// Throws Error where the spec's force_strategy needs an output that the model does not give.
EnergySource choose_energy_source(const ModelSpec &model, const MLIPSpec &spec);

// Of one evaluation on a rank that runs the model.
struct ModelRows {
  std::int64_t owned = 0;
  std::int64_t held = 0;    // of the model's node tensors
  double share = 1.0;       // of what every rank has whole: one over the ranks that run the model
  bool sums = false;        // over the system inside the model are of all ranks
  double volume = 0.0;      // of the cell, Angstrom^3
};

class ModelResults {
 public:
  // Keeps references.
  ModelResults(const ModelSpec &model, const MLIPSpec &spec, const ModelCall &call);

  EnergySource energy_source() const { return source_; }
  OutputRule rule(const std::string &output) const { return output_rule(spec_, model_, output); }

  // Names of outputs that may be per atom, and the rules of those that may be the system's.
  std::vector<std::string> fields() const;
  std::map<std::string, OutputRule> systems() const;

  // [owned] float64 with its graph; undefined where the model has none.
  at::Tensor node_energy(const c10::IValue &result, const ModelRows &rows) const;
  // This rank's part of the system's energy, float64 with its graph: the parts sum to it.
  at::Tensor energy(const c10::IValue &result, const at::Tensor &node_energy,
                    const ModelRows &rows) const;

  // [held, width] float64 with its graph.
  at::Tensor field(const c10::IValue &result, const std::string &name, const ModelRows &rows);
  // Whether rows of other ranks' atoms hold parts of this field.
  bool goes_home(const std::string &name) const;
  // As the model returned it, with its graph.
  at::Tensor system(const c10::IValue &result, const std::string &name, const ModelRows &rows);

  // Adds the forces and the virial that the model made itself.
  void add_forces(const c10::IValue &result, const ModelRows &rows, const PotentialRequest &request,
                  PotentialOutput &output) const;

  std::vector<std::string> take_warnings();

 private:
  bool has(const std::string &output) const { return model_.outputs.contains(output); }
  at::Tensor values(const c10::IValue &result, const std::string &output, std::int64_t rows,
                    std::int64_t width) const;
  double share_of(const OutputRule &rule, const ModelRows &rows) const;
  at::Tensor node_virial(const c10::IValue &result, const ModelRows &rows) const;
  at::Tensor virial(const c10::IValue &result, const ModelRows &rows) const;
  void require_part_of_owned_rows(const std::string &output, const ModelRows &rows) const;
  void warn_of_missing_kind(const std::string &output, const at::Tensor &found,
                            const ModelRows &rows);

  const ModelSpec &model_;
  const MLIPSpec &spec_;
  const ModelCall &call_;
  EnergySource source_;
  std::vector<std::string> warned_of_;
  std::vector<std::string> warnings_;
};

}    // namespace mlip_dd
