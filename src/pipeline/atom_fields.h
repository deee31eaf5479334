// Per-atom quantities that models take from and give to one another, by name: charges, and whatever
// else a model calls its own. No torch, no LAMMPS.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mlip_dd {

struct FieldTensor;

// Of a model on a DeviceGraph the rows are a tensor there, and `values` is empty; see field_rows.h.
struct AtomField {
  std::int64_t width = 1;                   // numbers per atom
  std::vector<double> values;               // [rows, width]
  std::shared_ptr<FieldTensor> tensor{};    // in their place
};

using AtomFields = std::map<std::string, AtomField>;

class Error;
struct AtomGraph;
struct HostStep;

// Rows of the graph's owned atoms of the host's fields called `names`, [n_owned, width]. Throws
// Error, naming `model`, where the host has no such field.
AtomFields owned_host_fields(const AtomGraph &graph, const HostStep &step,
                             const std::vector<std::string> &names, const std::string &model);

// For a model that needs a field called `name` of the host's atoms, which have none.
Error missing_field(const std::string &name, const std::string &model);

}    // namespace mlip_dd
