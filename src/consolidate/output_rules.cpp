#include "consolidate/output_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "spec/families.h"

namespace mlip_dd {

namespace {

// Our role and the name that version-2 files have for it.
constexpr std::array<std::pair<const char *, const char *>, 3> kNamesInSpecs{
    {{"node_energy", "atomic_energies"}, {"virial", "stress"}, {"node_virial", "atomic_virial"}}};

std::string name_in_specs(const std::string &role)
{
  for (const auto &[ours, theirs] : kNamesInSpecs)
    if (role == ours) return theirs;
  return role;
}

bool declared(const MLIPSpec &spec, const std::string &output)
{
  return spec.output_kinds.contains(output) || spec.all_reduce_outputs.contains(output) ||
         spec.owned_only_outputs.contains(output);
}

// What the table of families says beside the roles are fields of atoms.
bool field_of_family(const ModelSpec &model, const std::string &output)
{
  const Family *family = find_family(model.family);
  if (!family) return false;
  return std::any_of(family->outputs.begin(), family->outputs.end(),
                     [&](const FamilyField &field) { return field.role == output; });
}

std::string names_of(const std::map<std::string, std::string> &outputs)
{
  std::string names;
  for (const auto &[role, name] : outputs) names += (names.empty() ? "" : ", ") + role;
  return names;
}

void put_in_place(ModelSpec &model, const std::string &key, const std::string &output,
                  const std::string &role)
{
  if (output == role && model.outputs.contains(role)) return;
  if (const auto found = model.outputs.find(output); found != model.outputs.end()) {
    model.outputs[role] = found->second;
    model.outputs.erase(output);
    return;
  }
  if (output == name_in_specs(role) && model.outputs.contains(role)) return;
  throw Error({"the spec names a per-atom output that the model does not have", in_quotes(output),
               "/" + key, "Map it in /model/outputs, or name one of: " + names_of(model.outputs)});
}

}    // namespace

OutputRule output_rule(const MLIPSpec &spec, const ModelSpec &model, const std::string &output)
{
  const std::string name = declared(spec, output) ? output : name_in_specs(output);
  OutputRule rule{output_kind(spec, name), output_reduce(spec, name), false};
  if (rule.kind == OutputKind::Unknown && field_of_family(model, output))
    rule.kind = OutputKind::PerNode;
  const auto &derivatives = model.autograd_outputs;
  rule.derivative = std::find(derivatives.begin(), derivatives.end(), output) != derivatives.end();
  return rule;
}

bool is_per_atom(const OutputRule &rule, std::int64_t rows, std::int64_t node_rows)
{
  return rule.kind == OutputKind::PerNode ||
         (rule.kind == OutputKind::Unknown && rows == node_rows);
}

Consolidation consolidation_of(const OutputRule &rule, bool per_atom, const std::string &output)
{
  if (rule.kind == OutputKind::Global) return Consolidation::untouched;
  if (!per_atom) return rule.reduce == Reduce::AllReduce ? Consolidation::sum : Consolidation::same;
  if (rule.reduce == Reduce::AllReduce)
    throw Error({"a per-atom output cannot be summed over ranks, whose rows are other atoms",
                 in_quotes(output), "/all_reduce_outputs",
                 "Remove it there, or give it the kind \"per_graph\" in /output_kinds"});
  return rule.derivative && rule.reduce != Reduce::OwnedOnly ? Consolidation::send_home
                                                             : Consolidation::own_rows;
}

ModelSpec with_output_keys(const MLIPSpec &spec, ModelSpec model)
{
  if (const auto &key = spec.node_energy_key; key && !key->empty())
    put_in_place(model, "node_energy_key", *key, "node_energy");
  if (const auto &key = spec.node_virial_key; key && !key->empty())
    put_in_place(model, "node_virial_key", *key, "node_virial");
  return model;
}

void require_native_output_keys(const MLIPSpec &spec, const std::string &path)
{
  const auto require = [&](const char *key, const std::optional<std::string> &output,
                           const std::string &role) {
    if (output && !output->empty() && *output != name_in_specs(role))
      throw Error({"a potential without a model file has no such per-atom output",
                   in_quotes(*output), path + ", /" + key,
                   "Set it to " + in_quotes(name_in_specs(role)) + ", or remove it"});
  };
  require("node_energy_key", spec.node_energy_key, "node_energy");
  require("node_virial_key", spec.node_virial_key, "node_virial");
}

}    // namespace mlip_dd
