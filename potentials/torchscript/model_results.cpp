#include "potentials/torchscript/model_results.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <span>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/quote.h"
#include "consolidate/device_forces.h"
#include "pipeline/output_tensors.h"
#include "spec/families.h"

namespace mlip_dd {

namespace {

bool is_role(const std::string &output)
{
  const auto roles = output_roles();
  return std::find(roles.begin(), roles.end(), output) != roles.end();
}

std::string shape_of(const at::Tensor &tensor, const ModelRows &rows)
{
  std::ostringstream shape;
  shape << "shape " << tensor.sizes() << " for " << rows.held << " atoms";
  return shape.str();
}

// To the first of `sum`.
void add(const at::Tensor &values, std::span<double> sum)
{
  const at::Tensor host = values.cpu().contiguous();
  const double *begin = host.const_data_ptr<double>();
  for (std::int64_t k = 0; k < host.numel(); ++k) sum[static_cast<std::size_t>(k)] += begin[k];
}

}    // namespace

EnergySource choose_energy_source(const ModelSpec &model, const MLIPSpec &spec)
{
  const auto has = [&](const char *output) { return model.outputs.contains(output); };
  const auto require = [&](const char *output) {
    if (!has(output))
      throw Error({"the spec's force_strategy needs an output that the model does not give",
                   in_quotes(output), model.file + ", /compile/force_strategy",
                   "Map it in /model/outputs, or choose another strategy"});
  };
  const EnergySource total = output_rule(spec, model, "energy").reduce == Reduce::AllReduce
                                 ? EnergySource::part
                                 : EnergySource::whole;
  if (spec.compile) switch (spec.compile->force_strategy) {
      case ForceStrategy::ModelInternal:
        require("forces");
        break;
      case ForceStrategy::FrameworkFromNodeEnergy:
        require("node_energy");
        break;
      case ForceStrategy::FrameworkFromGlobalEnergy:
        if (has("energy")) return total;
        require("node_energy");    // whose sum is the same energy
        break;
    }
  if (has("node_energy")) return EnergySource::nodes;
  return has("energy") ? total : EnergySource::none;
}

ModelResults::ModelResults(const ModelSpec &model, const MLIPSpec &spec, const ModelCall &call)
    : model_(model), spec_(spec), call_(call), source_(choose_energy_source(model, spec))
{
  // Rows that cannot be summed over ranks are refused before anything runs.
  for (const auto &[output, name] : model.outputs)
    if (const OutputRule of = rule(output); of.kind == OutputKind::PerNode)
      consolidation_of(of, true, output);
  const bool inside =
      spec.compile ? spec.compile->force_strategy == ForceStrategy::ModelInternal : has("forces");
  if (spec.node_virial_key && !spec.node_virial_key->empty() && !inside)
    warnings_.push_back(
        "node_virial_key is passed over: mlip-dd takes the forces, and the virial is a gradient "
        "of the energy");
}

std::vector<std::string> ModelResults::fields() const
{
  std::vector<std::string> names;
  for (const auto &[output, name] : model_.outputs) {
    const OutputKind kind = rule(output).kind;
    if (!is_role(output) && (kind == OutputKind::PerNode || kind == OutputKind::Unknown))
      names.push_back(output);
  }
  return names;
}

std::map<std::string, OutputRule> ModelResults::systems() const
{
  std::map<std::string, OutputRule> rules;
  for (const auto &[output, name] : model_.outputs)
    if (const OutputRule of = rule(output); !is_role(output) && of.kind != OutputKind::PerNode)
      rules.emplace(output, of);
  return rules;
}

at::Tensor ModelResults::node_energy(const c10::IValue &result, const ModelRows &rows) const
{
  if (!has("node_energy")) return {};
  const at::Tensor node_energy = call_.output(result, "node_energy");
  // Adapters may have left owned rows alone.
  if (node_energy.numel() != rows.held && node_energy.numel() != rows.owned)
    throw Error({"the model's node_energy must have one value per atom",
                 shape_of(node_energy, rows), model_.file,
                 "Name the output with one energy per atom in /model/outputs/node_energy"});
  return node_energy.reshape({-1}).narrow(0, 0, rows.owned).to(at::kDouble);
}

at::Tensor ModelResults::energy(const c10::IValue &result, const at::Tensor &node_energy,
                                const ModelRows &rows) const
{
  if (source_ == EnergySource::none) return at::zeros({}, at::kDouble);
  if (source_ == EnergySource::nodes) return node_energy.sum();
  const at::Tensor energy = call_.output(result, "energy");
  if (energy.numel() != 1)
    throw Error({"the model's energy must be one number", shape_of(energy, rows), model_.file,
                 "Name the energy of the system in /model/outputs/energy; energies of atoms are "
                 "node_energy"});
  if (source_ == EnergySource::part) require_part_of_owned_rows("energy", rows);
  return energy.reshape({}).to(at::kDouble) * (source_ == EnergySource::whole ? rows.share : 1.0);
}

at::Tensor ModelResults::field(const c10::IValue &result, const std::string &name,
                               const ModelRows &rows)
{
  const at::Tensor field = call_.output(result, name);
  warn_of_missing_kind(name, field, rows);
  if (field.dim() == 0 || (field.size(0) != rows.held && field.size(0) != rows.owned))
    throw Error({"an output that is used atom by atom must have one row per atom",
                 shape_of(field, rows), model_.file + ", /model/outputs/" + name,
                 "Name an output with one row per atom; one of the whole system has the kind "
                 "\"per_graph\" in /output_kinds"});
  const OutputRule of = rule(name);
  return field.reshape({field.size(0), -1}).to(at::kDouble) *
         (of.derivative ? share_of(of, rows) : 1.0);
}

bool ModelResults::goes_home(const std::string &name) const
{
  return consolidation_of(rule(name), true, name) == Consolidation::send_home;
}

at::Tensor ModelResults::system(const c10::IValue &result, const std::string &name,
                                const ModelRows &rows)
{
  const at::Tensor value = call_.output(result, name);
  warn_of_missing_kind(name, value, rows);
  const OutputRule of = rule(name);
  // A single row is as well the system's own.
  if (of.kind == OutputKind::Unknown && value.dim() > 0 && rows.held > 1 &&
      value.size(0) == rows.held)
    throw Error({"an output has a row for each atom and is asked for as one of the system",
                 shape_of(value, rows), model_.file + ", /model/outputs/" + name,
                 "Ask for it atom by atom; or, if it is the system's, give it the kind "
                 "\"per_graph\" in /output_kinds"});
  if (consolidation_of(of, false, name) != Consolidation::sum) return value;
  require_part_of_owned_rows(name, rows);
  return of.derivative ? value * share_of(of, rows) : value;
}

// A total over all rows that a model holds also counts other ranks' atoms.
void ModelResults::require_part_of_owned_rows(const std::string &output,
                                              const ModelRows &rows) const
{
  if (rows.held == rows.owned || model_.inputs.contains("owned_mask")) return;
  throw Error(
      {"the model's rows hold other ranks' atoms too, so that its total is not a part of "
       "the system's",
       "output " + in_quotes(output) + " in /all_reduce_outputs", model_.file,
       "Use `halo exchange`, let the model add rows by `batch`, or give it owned_mask"});
}

void ModelResults::warn_of_missing_kind(const std::string &output, const at::Tensor &found,
                                        const ModelRows &rows)
{
  if (rule(output).kind != OutputKind::Unknown ||
      std::find(warned_of_.begin(), warned_of_.end(), output) != warned_of_.end())
    return;
  warned_of_.push_back(output);
  const bool per_atom = found.dim() > 0 && is_per_atom(rule(output), found.size(0), rows.held);
  warnings_.push_back("the output " + in_quotes(output) + " of " + model_.file +
                      " has no kind, and by its " + shape_of(found, rows) + " is taken as " +
                      (per_atom ? "per_node" : "per_graph") +
                      ". Declare it in /output_kinds of the spec");
}

std::vector<std::string> ModelResults::take_warnings() { return std::exchange(warnings_, {}); }

// [rows, width] float64, without its graph.
at::Tensor ModelResults::values(const c10::IValue &result, const std::string &output,
                                std::int64_t rows, std::int64_t width) const
{
  const at::Tensor found = call_.output(result, output).detach();
  if (found.numel() != rows * width)
    throw Error({"the model's " + output + " has another number of values than it must",
                 std::to_string(found.numel()) + " for " + std::to_string(rows * width),
                 model_.file + ", /model/outputs/" + output, "Correct /model/outputs"});
  return found.reshape({rows, width}).to(at::kDouble);
}

// What one rank adds to a sum over ranks. A derivative is a part of its own, but of an energy that
// every rank has whole it comes once from each.
double ModelResults::share_of(const OutputRule &rule, const ModelRows &rows) const
{
  const bool whole_energy =
      rows.sums && has("energy") && this->rule("energy").reduce != Reduce::AllReduce;
  const bool from_each = rule.derivative ? whole_energy : rule.reduce != Reduce::AllReduce;
  return from_each ? rows.share : 1.0;
}

void ModelResults::add_forces(const c10::IValue &result, const ModelRows &rows,
                              const PotentialRequest &request, PotentialOutput &output) const
{
  // Forces that are no derivatives are of this rank's atoms alone.
  const double share = rule("forces").derivative ? share_of(rule("forces"), rows) : 1.0;
  const std::int64_t kept = goes_home("forces") ? rows.held : rows.owned;
  const at::Tensor forces = share * values(result, "forces", rows.held, 3).narrow(0, 0, kept);
  const at::Tensor virial = this->virial(result, rows);
  at::Tensor shares;
  if (request.node_virial) {
    if (!has("node_virial"))
      throw Error(
          {"per-atom virials are asked for, and this model has no gradient by edges", "",
           model_.file,
           "Export the model so that it takes edge_vectors or returns node_virial, or leave "
           "out computes and dumps of per-atom stress"});
    shares = node_virial(result, rows);
  }
  if (output.tensors) {
    mlip_dd::add_forces(forces, virial, output);
    if (shares.defined())
      output.tensors->node_virial.narrow(0, 0, shares.size(0))
          .add_(shares.to(output.tensors->node_virial.device()));
    return;
  }
  add(forces, output.forces);
  add(virial, output.virial);
  if (shares.defined()) add(shares, output.node_virial);
}

// [owned or held rows, 9], this rank's part.
at::Tensor ModelResults::node_virial(const c10::IValue &result, const ModelRows &rows) const
{
  const OutputRule of = rule("node_virial");
  const std::int64_t kept = goes_home("node_virial") ? rows.held : rows.owned;
  return values(result, "node_virial", rows.held, 9).narrow(0, 0, kept) *
         (of.derivative ? share_of(of, rows) : 1.0);
}

// [3, 3], this rank's part, of the first of node_virial, virial and stress that the model gives.
at::Tensor ModelResults::virial(const c10::IValue &result, const ModelRows &rows) const
{
  if (has("node_virial")) return node_virial(result, rows).sum(0).view({3, 3});
  const bool stress = !has("virial");
  const char *const name = stress ? "stress" : "virial";
  const double factor = share_of(rule(name), rows) * (stress ? -rows.volume : 1.0);
  return factor * values(result, name, 3, 3);
}

}    // namespace mlip_dd
