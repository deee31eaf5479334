#include "spec/operations.h"

#include <algorithm>

#include "base/error.h"
#include "base/quote.h"
#include "spec/names.h"

namespace mlip_dd {

namespace {

void add_warning(std::vector<std::string> *warnings, std::string text)
{
  if (warnings) warnings->push_back(std::move(text));
}

[[noreturn]] void refuse_merge(const std::string &cause, const std::string &found)
{
  throw Error(
      {cause, found, "",
       "Run the models as a pipeline, where each keeps its own spec, or change one of the two"});
}

StoragePolicy merge_policies(const StoragePolicy &a, const StoragePolicy &b)
{
  if (a.kind == PolicyKind::Local) return b;
  if (b.kind == PolicyKind::Local) return a;
  if (a.kind != b.kind)
    refuse_merge("Two specs with different policies can't be merged",
                 std::string(to_name(a.kind)) + " and " + std::string(to_name(b.kind)));
  return {a.kind, std::max(a.scatter_mode, b.scatter_mode), std::max(a.gather_mode, b.gather_mode)};
}

template <class Item>
std::vector<Item> joined(std::vector<Item> first, const std::vector<Item> &second)
{
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// In order of first appearance; what stands twice in one of the two stays so.
std::vector<std::string> merge_fields(std::vector<std::string> fields,
                                      const std::vector<std::string> &others)
{
  for (const std::string &field : others)
    if (std::find(fields.begin(), fields.end(), field) == fields.end()) fields.push_back(field);
  return fields;
}

std::optional<std::string> merge_keys(std::string_view name, const std::optional<std::string> &a,
                                      const std::optional<std::string> &b,
                                      std::vector<std::string> *warnings)
{
  const bool in_a = a && !a->empty(), in_b = b && !b->empty();
  if (in_a && in_b && *a != *b)
    add_warning(warnings, "Merging keeps the first spec's " + std::string(name) + ", " +
                              in_quotes(*a) + ", and drops the second's, " + in_quotes(*b) + ".");
  return in_a ? a : b;
}

bool merge_geometry(const MLIPSpec &a, const MLIPSpec &b)
{
  if (a.gp_replicate_geometry != b.gp_replicate_geometry &&
      a.distribution.policy.kind == PolicyKind::GraphParallel &&
      b.distribution.policy.kind == PolicyKind::GraphParallel)
    refuse_merge("Two graph_parallel specs must agree on gp_replicate_geometry", "true and false");
  return a.gp_replicate_geometry || b.gp_replicate_geometry;
}

std::map<std::string, OutputKind> merge_kinds(std::map<std::string, OutputKind> kinds,
                                              const std::map<std::string, OutputKind> &others)
{
  for (const auto &[output, kind] : others) {
    const auto [place, fresh] = kinds.emplace(output, kind);
    if (fresh || place->second == kind || kind == OutputKind::Unknown) continue;
    if (place->second != OutputKind::Unknown)
      refuse_merge("The two specs give output " + in_quotes(output) + " different kinds",
                   std::string(to_name(place->second)) + " and " + std::string(to_name(kind)));
    place->second = kind;
  }
  return kinds;
}

std::optional<CompilePolicy> merge_compile(const std::optional<CompilePolicy> &a,
                                           const std::optional<CompilePolicy> &b,
                                           std::vector<std::string> *warnings)
{
  if (!a && !b) return std::nullopt;
  if (!a || !b) {
    add_warning(warnings,
                "Only one of the merged specs has a compile policy; the result has none. Run the "
                "models as a pipeline, where each keeps its own.");
    return std::nullopt;
  }
  if (a->force_strategy != b->force_strategy || a->static_shapes != b->static_shapes) {
    add_warning(warnings,
                "The merged specs' compile policies differ in force_strategy or static_shapes; the "
                "result has none. Run the models as a pipeline, where each keeps its own.");
    return std::nullopt;
  }
  if (a->stress_via_strain != b->stress_via_strain)
    add_warning(warnings, std::string("Merging keeps the first spec's stress_via_strain, ") +
                              (a->stress_via_strain ? "true" : "false") +
                              ", against the second's.");
  return a;
}

// The rules that the strict reader also keeps.
void check_reductions(const MLIPSpec &spec)
{
  for (const std::string &output : spec.all_reduce_outputs) {
    if (spec.owned_only_outputs.contains(output))
      refuse_merge("One output can't be owned_only and all_reduce", in_quotes(output));
    if (output_kind(spec, output) == OutputKind::PerNode)
      throw Error({"A per-node output can't be summed over ranks: they hold other atoms",
                   in_quotes(output), "",
                   "Give it the reduction none or owned_only, or the kind per_graph"});
  }
}

void add_arguments(OpAdapter &adapter, const std::map<int, ArgTransform> &given,
                   const std::vector<int> &positions, ArgTransform transform)
{
  for (int position : positions) {
    if (given.contains(position)) continue;
    const auto [place, fresh] = adapter.arg_transforms.emplace(position, transform);
    if (!fresh && place->second != transform)
      throw Error({"Two roles claim one argument", std::to_string(position), adapter.op,
                   "Give each argument one role"});
  }
}

void add_outputs(OpAdapter &adapter, const std::map<int, OutputTransform> &given,
                 const std::vector<int> &positions, OutputTransformKind kind)
{
  for (int position : positions) {
    if (given.contains(position)) continue;
    const auto [place, fresh] = adapter.output_transforms.emplace(position, OutputTransform{kind});
    if (!fresh && place->second.kind != kind)
      throw Error({"Two roles claim one result", std::to_string(position), adapter.op,
                   "Give each result one role"});
  }
}

template <class Mode>
Mode mode_from(std::string_view name, std::string_view word)
{
  if (const auto mode = from_name<Mode>(word)) return *mode;
  const auto words = words_of<Mode>();
  throw Error({"The " + std::string(name) + " is not known", in_quotes(word), "",
               "Legal: " + list_names(words)});
}

}    // namespace

MLIPSpec merge(const MLIPSpec &a, const MLIPSpec &b, std::vector<std::string> *warnings)
{
  MLIPSpec spec;
  const DistributionSpec &da = a.distribution, &db = b.distribution;
  spec.distribution.policy = merge_policies(da.policy, db.policy);
  spec.distribution.custom_ops = joined(da.custom_ops, db.custom_ops);
  spec.distribution.third_party_helpers = joined(da.third_party_helpers, db.third_party_helpers);
  spec.distribution.shard_fields = merge_fields(da.shard_fields, db.shard_fields);
  spec.system_reductions = a.system_reductions || b.system_reductions;
  spec.node_energy_key =
      merge_keys("node_energy_key", a.node_energy_key, b.node_energy_key, warnings);
  spec.node_virial_key =
      merge_keys("node_virial_key", a.node_virial_key, b.node_virial_key, warnings);
  spec.gp_replicate_geometry = merge_geometry(a, b);
  spec.owned_only_outputs = a.owned_only_outputs;
  spec.owned_only_outputs.insert(b.owned_only_outputs.begin(), b.owned_only_outputs.end());
  spec.all_reduce_outputs = a.all_reduce_outputs;
  spec.all_reduce_outputs.insert(b.all_reduce_outputs.begin(), b.all_reduce_outputs.end());
  spec.output_kinds = merge_kinds(a.output_kinds, b.output_kinds);
  check_reductions(spec);
  spec.compile = merge_compile(a.compile, b.compile, warnings);
  return spec;
}

MLIPSpec with_outputs(MLIPSpec spec, const OutputDeclarations &outputs)
{
  for (const auto &[name, declared] : outputs) {
    if (declared.kind != OutputKind::Unknown) spec.output_kinds[name] = declared.kind;
    spec.owned_only_outputs.erase(name);
    spec.all_reduce_outputs.erase(name);
    if (declared.reduce == Reduce::OwnedOnly) spec.owned_only_outputs.insert(name);
    if (declared.reduce == Reduce::AllReduce) spec.all_reduce_outputs.insert(name);
  }
  check_reductions(spec);
  return spec;
}

MLIPSpec with_adapters(MLIPSpec spec, const std::vector<Adapter> &adapters)
{
  for (const Adapter &adapter : adapters) {
    if (const auto *op = std::get_if<OpAdapter>(&adapter))
      spec.distribution.custom_ops.push_back(*op);
    else
      spec.distribution.third_party_helpers.push_back(std::get<HelperAdapter>(adapter));
  }
  return spec;
}

MLIPSpec with_compile(MLIPSpec spec, const std::optional<CompilePolicy> &compile)
{
  spec.compile = compile;
  return spec;
}

MLIPSpec replace_policy(MLIPSpec spec, std::span<const PolicyChange> changes)
{
  StoragePolicy &policy = spec.distribution.policy;
  if (policy.kind == PolicyKind::Local)
    throw Error({"The policy has no modes to change", "local", "",
                 "Start from a spec with the policy halo or refresh_halo"});
  for (const auto &[field, word] : changes) {
    const bool scatter = field == "scatter" || field == "scatter_mode";
    const bool gather = field == "gather" || field == "gather_mode";
    if (!scatter && !gather)
      throw Error({"A policy has no such field", in_quotes(field), "",
                   "Fields: scatter (scatter_mode) and gather (gather_mode)"});
    if (!has_halo_modes(policy.kind))
      throw Error({"The policy " + std::string(to_name(policy.kind)) + " has no modes",
                   in_quotes(field), "", "Only halo and refresh_halo have"});
    if (scatter)
      policy.scatter_mode = mode_from<ScatterMode>("scatter_mode", word);
    else
      policy.gather_mode = mode_from<GatherMode>("gather_mode", word);
  }
  return spec;
}

OpAdapter with_roles(OpAdapter adapter, const OpRoles &roles)
{
  const auto arguments = adapter.arg_transforms;
  const auto outputs = adapter.output_transforms;
  add_arguments(adapter, arguments, roles.gather_inputs, ArgTransform::GatherInputs);
  add_arguments(adapter, arguments, roles.gather_inputs_full, ArgTransform::GatherInputsFull);
  add_arguments(adapter, arguments, roles.owned_slice_inputs, ArgTransform::SliceOwned);
  add_outputs(adapter, outputs, roles.scatter_outputs, OutputTransformKind::ScatterOutputs);
  add_outputs(adapter, outputs, roles.all_reduce_outputs, OutputTransformKind::AllReduceSum);
  add_outputs(adapter, outputs, roles.slice_outputs_owned, OutputTransformKind::SliceOutputsOwned);
  return adapter;
}

}    // namespace mlip_dd
