// Which models of a pipeline feed which: the wires of a spec file held against the fields that its
// models take and make. No torch, no LAMMPS.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "spec/pipeline_spec.h"

namespace mlip_dd {

// What one step's potential takes and makes for each atom.
struct StepFields {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

struct FieldWire {
  std::string input;
  std::size_t producer = 0;    // index of its step
  std::string output;

  bool operator==(const FieldWire &) const = default;
};

// Steps are counted through all groups, in the file's order.
struct Wiring {
  std::vector<std::vector<FieldWire>> wires;            // by step
  std::vector<std::vector<std::string>> host_fields;    // by step: inputs that atoms must carry
  std::vector<std::size_t> order;                       // of evaluation: producers first
  std::vector<std::string> found;                       // wires not written in the file, in words
};

// `fields` has one entry per step. In a group with autograd an input that is not wired takes the
// output of the same name of the group's only earlier step that has one. Throws Error, naming the
// models and the field, where a wire begins or ends at nothing, or where a field made in a group
// could go unnoticed.
Wiring resolve_wiring(const PipelineSpec &pipeline, const std::vector<StepFields> &fields,
                      const std::string &path);

}    // namespace mlip_dd
