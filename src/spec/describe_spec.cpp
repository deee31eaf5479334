#include "spec/describe_spec.h"

#include <sstream>

#include "base/quote.h"
#include "spec/names.h"
#include "spec/wire.h"

namespace mlip_dd {

namespace {

using Json = nlohmann::ordered_json;

// One model with its spec; `model` is null for a policy alone.
struct Described {
  std::string name;
  const MLIPSpec *spec;
  const ModelSpec *model;
};

std::string rows_of(const StoragePolicy &policy)
{
  switch (policy.kind) {
    case PolicyKind::Local:
      return "owned rows alone; no rows of other ranks";
    case PolicyKind::Shard:
      return "owned rows alone; those of other ranks are there while they are read";
    case PolicyKind::GraphParallel:
      return "owned rows, and every other row gathered per layer";
    case PolicyKind::Halo:
    case PolicyKind::RefreshHalo:
      return "owned rows, and halo rows: atoms of other ranks in reach";
  }
  return {};
}

std::vector<std::string> exchanges_of(const StoragePolicy &policy)
{
  if (policy.kind == PolicyKind::GraphParallel)
    return {"gather: all rows, at every layer; its adjoint sums gradients over ranks"};
  if (policy.kind == PolicyKind::Shard)
    return {"gather: a layer reads rows of other ranks from their owners"};
  if (!has_halo_modes(policy.kind)) return {"none"};
  std::vector<std::string> lines;
  lines.push_back(policy.gather_mode == GatherMode::HaloRead
                      ? "gather: halo rows get their owners' values before a layer reads them"
                      : "gather: none; halo rows keep what was computed on them");
  if (policy.kind == PolicyKind::RefreshHalo)
    lines.push_back("fold: none; sums on owned rows are complete");
  lines.push_back(policy.scatter_mode == ScatterMode::HaloCorrection
                      ? "scatter: partial sums on halo rows go into their owners and back"
                      : "scatter: none; no sum may end on a halo row");
  return lines;
}

bool differentiated(const MLIPSpec &spec)
{
  return spec.compile && spec.compile->force_strategy != ForceStrategy::ModelInternal;
}

// What consolidation does with an output, by kind and reduction.
std::string fate_of(const MLIPSpec &spec, const std::string &output)
{
  const Reduce reduce = output_reduce(spec, output);
  switch (output_kind(spec, output)) {
    case OutputKind::Global:
      return "passed on as it is";
    case OutputKind::Unknown:
      return "judged by its number of rows" +
             std::string(reduce == Reduce::AllReduce   ? ", then summed over ranks"
                         : reduce == Reduce::OwnedOnly ? ", then owned rows kept"
                                                       : "");
    case OutputKind::PerNode:
      if (!has_halo_modes(spec.distribution.policy.kind)) return "owned rows, kept";
      if (reduce == Reduce::OwnedOnly && !(differentiated(spec) && output == "forces"))
        return "owned rows kept, halo rows dropped";
      return "owned rows kept; what a gradient left on halo rows is added into their owners";
    case OutputKind::PerGraph:
      if (reduce == Reduce::AllReduce) return "partial on each rank, summed over ranks";
      return "the same on every rank, kept";
  }
  return {};
}

std::set<std::string> outputs_of(const MLIPSpec &spec)
{
  std::set<std::string> names;
  for (const auto &[name, kind] : spec.output_kinds) names.insert(name);
  names.insert(spec.owned_only_outputs.begin(), spec.owned_only_outputs.end());
  names.insert(spec.all_reduce_outputs.begin(), spec.all_reduce_outputs.end());
  return names;
}

std::string forces_of(const Described &described)
{
  if (described.spec->compile) switch (described.spec->compile->force_strategy) {
      case ForceStrategy::ModelInternal:
        return "the model returns them";
      case ForceStrategy::FrameworkFromNodeEnergy:
        return "mlip-dd differentiates the sum of owned per-atom energies";
      case ForceStrategy::FrameworkFromGlobalEnergy:
        return "mlip-dd differentiates the total energy";
    }
  if (!described.model) return "the model's own way; the spec does not say";
  if (described.model->family.empty()) return "the potential computes them";
  if (described.model->outputs.contains("forces")) return "the model returns them";
  return "mlip-dd differentiates the energy of owned rows";
}

std::string stress_of(const MLIPSpec &spec)
{
  if (spec.compile && spec.compile->stress_via_strain) return "from a strain of positions and cell";
  if (spec.node_virial_key && !spec.node_virial_key->empty())
    return "from the per-atom output " + in_quotes(*spec.node_virial_key);
  return "from the gradient on edges, or the potential's own";
}

std::string helper_name(const HelperAdapter &helper)
{
  const Json object = to_wire(helper);
  std::string name = object["kind"];
  for (std::string_view key : {"module_path", "class_name", "attr_name", "method_name", "target"})
    if (object.contains(key)) name.append(" ").append(object[key].get<std::string>());
  return name;
}

std::vector<std::string> warnings_of(const Described &described)
{
  const MLIPSpec &spec = *described.spec;
  std::vector<std::string> warnings;
  for (const HelperAdapter &helper : spec.distribution.third_party_helpers)
    warnings.push_back("The helper " + in_quotes(helper_name(helper)) +
                       " changes a Python object and has no meaning outside Python.");
  if (spec.distribution.policy.kind == PolicyKind::Local && described.model)
    warnings.push_back(
        "The policy local exchanges nothing: right on one rank, or with a halo as "
        "wide as all layers together.");
  if (spec.gp_replicate_geometry && spec.distribution.policy.kind != PolicyKind::GraphParallel)
    warnings.push_back("gp_replicate_geometry means something for graph_parallel only.");
  for (const std::string &output : outputs_of(spec))
    if (output_kind(spec, output) == OutputKind::Unknown)
      warnings.push_back(
          "The output " + in_quotes(output) +
          " has no kind, so that a wrong number of rows goes unnoticed; declare it.");
  return warnings;
}

std::string operator_line(const OpAdapter &adapter)
{
  std::ostringstream line;
  line << adapter.op;
  if (adapter.arg_transforms.empty() && adapter.output_transforms.empty())
    line << ": runs as it is";
  for (const auto &[position, transform] : adapter.arg_transforms)
    line << "; argument " << position << " " << to_name(transform);
  for (const auto &[position, transform] : adapter.output_transforms)
    line << "; result " << position << " " << to_name(transform.kind)
         << (transform.replicated_consumer ? " (replicated consumer)" : "");
  return line.str();
}

std::vector<Described> described_in(const SpecFile &file)
{
  std::vector<Described> all;
  if (file.pipeline)
    for (const auto &[name, model] : file.pipeline->models)
      all.push_back({name, &model.spec, &model.model});
  else
    all.push_back({"", &file.spec, file.model ? &*file.model : nullptr});
  return all;
}

std::string_view length_unit(std::string_view units)
{
  if (units == "metal" || units == "real") return " Angstrom";
  if (units == "electron") return " Bohr";
  if (units == "si") return " m";
  if (units == "cgs") return " cm";
  if (units == "micro") return " micrometre";
  if (units == "nano") return " nm";
  return "";
}

std::string cutoff_text(const ModelSpec &model, const StoragePolicy &policy)
{
  if (!model.cutoff) return "chosen by the potential";
  std::ostringstream text;
  text << *model.cutoff << length_unit(model.units);
  if (!model.layers || *model.layers < 2) return text.str();
  const double reach = *model.cutoff * *model.layers;
  if (has_halo_modes(policy.kind) && policy.gather_mode == GatherMode::HaloRead)
    text << ", also the width of the halo: rows are exchanged at each of the " << *model.layers
         << " layers, which together reach " << reach;
  else
    text << "; the " << *model.layers << " layers together reach " << reach;
  return text.str();
}

void write_model(std::ostream &out, const ModelSpec &model, const StoragePolicy &policy)
{
  out << "  potential   " << model.potential
      << (model.family.empty() ? "" : ", family " + model.family) << "\n";
  if (!model.file.empty()) out << "  model file  " << model.file << "\n";
  for (const std::string &member : model.committee) out << "  and         " << member << "\n";
  out << "  elements    ";
  for (std::size_t i = 0; i < model.elements.size(); ++i)
    out << (i > 0 ? " " : "") << model.elements[i];
  out << "\n  units       " << model.units
      << (model.dtype.empty() ? "" : ", computed in " + model.dtype) << "\n";
  for (const std::string &library : model.libraries) out << "  library     " << library << "\n";
  out << "  cutoff      " << cutoff_text(model, policy) << "\n";
}

void write_spec(std::ostream &out, const Described &described)
{
  const MLIPSpec &spec = *described.spec;
  const StoragePolicy &policy = spec.distribution.policy;
  out << "  policy      " << to_name(policy.kind);
  if (has_halo_modes(policy.kind))
    out << " (scatter " << to_name(policy.scatter_mode) << ", gather "
        << to_name(policy.gather_mode) << ")";
  out << "\n  rows        " << rows_of(policy) << "\n";
  for (const std::string &line : exchanges_of(policy)) out << "  per layer   " << line << "\n";
  out << "  system sums "
      << (spec.system_reductions ? "owned rows of all ranks" : "this rank's rows alone") << "\n";
  out << "  forces      " << forces_of(described) << "\n";
  out << "  stress      " << stress_of(spec) << "\n";
  if (spec.node_energy_key && !spec.node_energy_key->empty())
    out << "  energy      sum of the per-atom output " << in_quotes(*spec.node_energy_key) << "\n";
  for (const std::string &output : outputs_of(spec))
    out << "  output      " << output << ": " << to_name(output_kind(spec, output)) << "; "
        << fate_of(spec, output) << "\n";
  for (const OpAdapter &adapter : spec.distribution.custom_ops)
    out << "  operator    " << operator_line(adapter) << "\n";
}

void write_pipeline(std::ostream &out, const PipelineSpec &pipeline)
{
  for (const PipelineGroup &group : pipeline.groups) {
    out << "group, "
        << (group.autograd ? "forces from the gradient of the summed energy"
                           : "forces and stress of each model added")
        << "\n";
    for (const PipelineStep &step : group.steps) {
      out << "  " << step.model;
      for (const auto &[input, source] : step.wire)
        out << "; its " << input << " is " << source.output << " of " << source.model;
      if (step.neutralize == Neutralize::Shift)
        out << ", shifted to a sum of " << step.total_charge << " e";
      if (step.neutralize == Neutralize::Error)
        out << ", which must sum to " << step.total_charge << " e";
      if (step.weight != 1.0) out << "; times " << step.weight;
      out << "\n";
    }
  }
}

}    // namespace

std::string describe_in_words(const SpecFile &file)
{
  std::ostringstream out;
  out << file.path << "\n";
  std::vector<std::string> warnings = file.warnings;
  for (const Described &described : described_in(file)) {
    if (!described.name.empty()) out << "model " << described.name << "\n";
    if (described.model) write_model(out, *described.model, described.spec->distribution.policy);
    write_spec(out, described);
    for (std::string &warning : warnings_of(described))
      warnings.push_back((described.name.empty() ? "" : described.name + ": ") +
                         std::move(warning));
  }
  if (file.pipeline) write_pipeline(out, *file.pipeline);
  for (const std::string &warning : warnings) out << "warning: " << warning << "\n";
  return out.str();
}

Json describe_as_json(const SpecFile &file)
{
  Json models = Json::array();
  for (const Described &described : described_in(file)) {
    const MLIPSpec &spec = *described.spec;
    Json outputs = Json::array();
    for (const std::string &output : outputs_of(spec))
      outputs.push_back(Json{{"name", output},
                             {"kind", to_name(output_kind(spec, output))},
                             {"reduce", to_name(output_reduce(spec, output))},
                             {"meaning", fate_of(spec, output)}});
    Json model{{"name", described.name},
               {"policy", to_wire(spec.distribution.policy)},
               {"rows", rows_of(spec.distribution.policy)},
               {"exchanges", exchanges_of(spec.distribution.policy)},
               {"outputs", std::move(outputs)},
               {"forces", forces_of(described)},
               {"stress", stress_of(spec)},
               {"warnings", warnings_of(described)}};
    if (described.model) {
      model["potential"] = described.model->potential;
      model["cutoff"] = described.model->cutoff ? Json(*described.model->cutoff) : Json(nullptr);
      model["elements"] = described.model->elements;
    }
    models.push_back(std::move(model));
  }
  return {{"path", file.path},
          {"warnings", file.warnings},
          {"models", std::move(models)},
          {"file", to_json(file)}};
}

}    // namespace mlip_dd
