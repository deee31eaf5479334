#include "pipeline/atom_fields.h"

#include <algorithm>

#include "base/error.h"
#include "base/quote.h"
#include "graph/atom_graph.h"
#include "graph/host_atoms.h"

namespace mlip_dd {

Error missing_field(const std::string &name, const std::string &model)
{
  return Error(
      {"the atoms do not carry what the model needs of each of them", "no " + in_quotes(name),
       "model " + model,
       name == "charges"
           ? "Use a style of atoms with charges (in LAMMPS, atom_style charge or full)"
           : "Give each atom the property (in LAMMPS, `fix ID all property/atom d_" + name + "`)"});
}

AtomFields owned_host_fields(const AtomGraph &graph, const HostStep &step,
                             const std::vector<std::string> &names, const std::string &model)
{
  AtomFields fields;
  for (const std::string &name : names) {
    const auto given = step.fields.find(name);
    if (given == step.fields.end()) throw missing_field(name, model);
    const auto [values, width] = given->second;
    AtomField &field = fields[name];
    field.width = width;
    const auto w = static_cast<std::size_t>(width);
    field.values.resize(w * graph.owned_atoms.size());
    for (std::size_t row = 0; row < graph.owned_atoms.size(); ++row)
      std::copy_n(&values[w * static_cast<std::size_t>(graph.owned_atoms[row])], w,
                  &field.values[w * row]);
  }
  return fields;
}

}    // namespace mlip_dd
