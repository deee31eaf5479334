// What becomes of each output of a model, by what its spec declares of it. No torch, no LAMMPS.
#pragma once

#include <cstdint>
#include <string>

#include "spec/mlip_spec.h"
#include "spec/model_spec.h"

namespace mlip_dd {

// How an output's parts on the ranks make one result. There is no factor of the number of ranks
// anywhere: what a rank differentiates is its own part of the energy.
enum class Consolidation {
  own_rows,     // per atom; rows of other ranks' atoms are copies, and are dropped
  send_home,    // per atom; rows of other ranks' atoms hold parts, which are added to their owners'
  same,         // per system; every rank has it
  sum,          // per system; every rank has a part
  untouched     // of no kind that ranks could have parts of
};

struct OutputRule {
  OutputKind kind = OutputKind::Unknown;
  Reduce reduce = Reduce::None;
  bool derivative = false;    // the model made it by differentiating its energy

  bool operator==(const OutputRule &) const = default;
};

// Of an output by its name in the model's `outputs`. What is not declared under the name of a role
// is looked up under the name that specs have for it: atomic_energies for node_energy, stress for
// virial, atomic_virial for node_virial. Fields in the table of families are per atom undeclared.
OutputRule output_rule(const MLIPSpec &spec, const ModelSpec &model, const std::string &output);

// `rows` of an output against the `node_rows` of the model's node tensors: decides where the kind
// is not declared.
bool is_per_atom(const OutputRule &rule, std::int64_t rows, std::int64_t node_rows);

// Throws Error, naming the output, for a sum over ranks of rows, which are other atoms on each.
Consolidation consolidation_of(const OutputRule &rule, bool per_atom, const std::string &output);

// `model` with the outputs that the spec's node_energy_key and node_virial_key name in the places
// of node_energy and node_virial. Throws Error where the model has no such output.
ModelSpec with_output_keys(const MLIPSpec &spec, ModelSpec model);

// Throws Error where these keys name outputs that native potentials, which always give
// atomic_energies and atomic_virial, do not have.
void require_native_output_keys(const MLIPSpec &spec, const std::string &path);

}    // namespace mlip_dd
