#include "potentials/torchscript/torchscript_potential.h"

#include <ATen/Parallel.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>

#include "base/error.h"
#include "base/timer.h"
#include "consolidate/device_forces.h"
#include "consolidate/edge_forces.h"
#include "consolidate/position_forces.h"
#include "halo/halo_exchange.h"
#include "halo/system_sums.h"
#include "intercept/interception.h"
#include "intercept/op_adapters.h"
#include "pipeline/field_rows.h"
#include "pipeline/output_tensors.h"
#include "potentials/thread_count.h"
#include "potentials/torchscript/device.h"
#include "potentials/torchscript/gradients.h"
#include "potentials/torchscript/load_module.h"
#include "potentials/torchscript/model_call.h"
#include "potentials/torchscript/model_error.h"
#include "potentials/torchscript/model_inputs.h"
#include "potentials/torchscript/model_results.h"
#include "potentials/torchscript/operator_libraries.h"
#include "spec/families.h"

namespace mlip_dd {

namespace {

void refuse_what_is_not_run(const ModelSpec &model)
{
  if (model.units != "metal")
    throw Error({"TorchScript models are run in eV and Angstrom", "\"" + model.units + "\"",
                 "/model/units", "Export the model in these units and set \"units\": \"metal\""});
}

class TorchScriptPotential final : public Potential {
 public:
  TorchScriptPotential(const ModelSpec &model, const PotentialOptions &options,
                       Communicator &communicator, int local_rank)
      : spec_(options.spec),
        model_(with_output_keys(spec_, model)),
        family_(require_family(model)),
        device_(choose_device(options.device, local_rank)),
        loaded_(load_module(model_, family_, device_)),
        call_(loaded_.module, model_),
        results_(model_, spec_, call_),
        inputs_(model_, family_, choose_force_route(model_, spec_), device_, loaded_.dtype),
        threads_(options.threads),
        messages_asked_(options.messages),
        exchange_(communicator),
        sums_(communicator),
        adapters_(spec_.distribution.custom_ops),
        sums_over_systems_(communicator.size() > 1 && spec_.system_reductions &&
                           family_.sums_over_systems && model_.inputs.contains("batch")),
        sums_inside_(sums_over_systems_ || (communicator.size() > 1 && adapters_.sum_over_ranks()))
  {
    guard_operators(foreign_operators(loaded_.module));
    refuse_what_is_not_run(model);
    require_message_path(messages_asked_, device_);
    if (!model.cutoff)
      throw Error({"the model has no cutoff", "", "/model", "Add \"cutoff\" in Angstrom"});
    if (results_.energy_source() == EnergySource::whole && communicator.size() > 1 && !sums_inside_)
      throw Error(
          {"on several ranks a model has its whole energy only if it adds rows by `batch`, "
           "or an adapter sums over ranks",
           why_sums_stay(), model_.file,
           "Export the model with `batch`, or map node_energy; an energy that is a part on "
           "each rank is named in /all_reduce_outputs"});
    if (communicator.size() > 1 && adapters_.replicated() && inputs_.route() != ForceRoute::model)
      throw Error(
          {"replicated_consumer is for models that differentiate the same total on each "
           "rank, and here each rank differentiates its own part",
           "all_reduce_sum", model_.file + ", /core/custom_ops", "Remove replicated_consumer"});
  }

  double cutoff() const override { return *model_.cutoff; }
  bool takes_device_graph(const std::string &) const override { return true; }
  std::string flux_caveat() const override
  {
    if (model_.layers.value_or(2) <= 1) return {};
    return model_.file + (model_.layers
                              ? " has " + std::to_string(*model_.layers) + " rounds of messages"
                              : " does not say by \"layers\" that it has one at most");
  }
  bool has_centroid_virial() const override { return inputs_.route() == ForceRoute::edge_vectors; }
  bool sends_from_gpu() const override
  {
    return messages_ && messages_->path == MessagePath::device;
  }

  void set_plan(const HaloPlan &plan, HaloMode mode) override
  {
    mode_ = mode;
    choose_messages();
    exchange_.set_plan(plan);
    features_.clear();
    sums_.forget_constants();
    inputs_.new_rows();
    refuse_hidden_gradients();
  }

  std::vector<std::string> input_fields() const override
  {
    std::vector<std::string> fields;
    const auto roles = input_roles();
    for (const auto &[role, name] : model_.inputs)
      if (std::find(roles.begin(), roles.end(), role) == roles.end()) fields.push_back(role);
    return fields;
  }
  std::vector<std::string> output_fields() const override { return results_.fields(); }
  std::map<std::string, OutputRule> system_outputs() const override { return results_.systems(); }
  std::vector<std::string> take_warnings() override { return results_.take_warnings(); }

  void evaluate(const AtomGraph &graph, const HostStep &step, const PotentialRequest &request,
                PotentialOutput &output) override
  {
    pending_.reset();
    // Edges end at owned atoms and pairs are mutual, so a rank without atoms shares no rows with
    // anyone. Many models fail on no rows at all: it runs none, and adds nothing to the sums.
    sums_.begin();
    if (graph.n_owned == 0) {
      if (sums_inside_) sums_.replay();
      if (!request.defer) differentiate(graph, request, 1.0, {}, output);
      return;
    }

    const ThreadCountGuard threads(threads_);
    // Autograd must see each operator; the optimising executor would differentiate whole blocks
    // itself.
    const torch::jit::GraphOptimizerEnabledGuard unoptimised(false);
    const at::AutoGradMode grad_mode(true);
    Forward &run = pending_.emplace();
    run.inputs = inputs_.make(graph, step, request.fields, rows_held(graph), exchange_);
    if (exchange_.communicator().size() > 1) {
      InterceptionOptions how;
      how.receiver_row = family_.receiver_row;
      how.keep_constant_features = family_.constant_features_depend_on_types_only;
      how.storage = row_storage(mode_);
      how.sums = &sums_;
      if (sums_over_systems_) how.batch = inputs_.batch(graph, rows_held(graph));
      how.adapters = &adapters_;
      how.check_reductions = !checked_ && !family_.reduces_to_nothing;
      run.interception.emplace(exchange_, features_, run.inputs.edge_index, how);
    }

    const c10::IValue result = forward(run);
    if (sums_inside_) sums_.pause();
    const ModelRows rows{
        graph.n_owned, rows_held(graph), 1.0 / static_cast<double>(request.running.count),
        sums_over_systems_ || (sums_inside_ && !adapters_.replicated()), volume_of(step.cell)};
    take_energy(result, rows, request, run, output);
    if (inputs_.route() == ForceRoute::model) results_.add_forces(result, rows, request, output);
    for (const std::string &name : request.output_fields)
      take_field(result, name, rows, run, output);
    for (const std::string &name : request.system_outputs) {
      const at::Tensor value = results_.system(result, name, rows);
      if (consolidation_of(results_.rule(name), false, name) == Consolidation::same)
        check_reductions(run, value);
      output.systems[name] = {value.sizes().vec(), values_of(value)};
    }
    checked_ = true;
    if (!request.defer) differentiate(graph, request, 1.0, {}, output);
  }

  void differentiate(const AtomGraph &graph, const PotentialRequest &request, double energy_seed,
                     const AtomFields &seeds, PotentialOutput &output) override
  {
    if (graph.n_owned == 0) {
      if (sums_inside_) sums_.replay();
      return;
    }
    const Timer timer(backward_seconds_);
    const ThreadCountGuard threads(threads_);
    const Gradients found = of_model(
        model_.file, [&] { return gradients_of(*pending_, inputs_.route(), energy_seed, seeds); });
    if (sums_inside_) sums_.end();
    add_forces(graph, request, found, pending_->inputs, output);
    for (const std::string &name : request.gradients) {
      const at::Tensor &gradient = found.fields.at(name);
      if (!gradient.defined())
        throw Error({"the model's energy does not depend on one of its inputs", "\"" + name + "\"",
                     model_.file,
                     "Leave the input out of /model/inputs, or use a model that is differentiable "
                     "by it"});
      const at::Tensor sum = rows_of(output.gradients.at(name));
      sum.narrow(0, 0, gradient.size(0)).add_(gradient.reshape({-1, sum.size(1)}).to(sum.device()));
    }
    pending_.reset();
  }

  double backward_seconds() const override { return backward_seconds_; }

  Traffic traffic() const override
  {
    Traffic total = exchange_.traffic();
    total += sums_.traffic();
    return total;
  }

  std::vector<std::string> description() const override
  {
    std::ostringstream text;
    text << "model " << model_.file << ": family " << family_.name << ", " << loaded_.weights
         << " weights, " << toString(loaded_.dtype) << " on " << device_ << ", cutoff " << cutoff()
         << " A";
    std::vector<std::string> lines{text.str()};
    if (messages_ && !messages_->reason.empty()) lines.push_back(describe(*messages_));
    return lines;
  }

 private:
  static std::vector<double> values_of(const at::Tensor &tensor)
  {
    const at::Tensor host = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
    const double *values = host.const_data_ptr<double>();
    return {values, values + host.numel()};
  }

  static const Family &require_family(const ModelSpec &model)
  {
    const Family *family = find_family(model.family.empty() ? "generic" : model.family);
    if (!family)
      throw Error(
          {"unknown model family", "\"" + model.family + "\"", "/model/family", "Use \"generic\""});
    return *family;
  }

  std::string why_sums_stay() const
  {
    if (!model_.inputs.contains("batch")) return "output \"energy\" without input \"batch\"";
    return spec_.system_reductions ? "the family's sums by `batch` stay on each rank"
                                   : "\"system_reductions\": false";
  }

  std::int64_t rows_held(const AtomGraph &graph) const
  {
    return mode_ == HaloMode::exchange ? graph.n_owned : graph.n_rows();
  }

  // Collective, once, where the model sends anything.
  void choose_messages()
  {
    if (mode_ == HaloMode::wide) {
      if (messages_asked_ == "device")
        throw Error({"`mpi device` asks for messages between GPUs, and a wide halo sends none",
                     "halo wide", model_.file, "Remove one of the two"});
      return;
    }
    if (messages_) return;
    messages_ = choose_message_path(messages_asked_, device_, exchange_.communicator());
    exchange_.set_message_path(messages_->path);
  }

  static RowStorage row_storage(HaloMode mode)
  {
    if (mode == HaloMode::wide) return RowStorage::local;
    return mode == HaloMode::padded ? RowStorage::padded : RowStorage::owned;
  }

  // A model that differentiates its own total over all rows it holds would count those that other
  // ranks count too, where they have energies that depend on positions.
  void refuse_hidden_gradients() const
  {
    const std::vector<std::string> fields = results_.fields();
    const bool inside = inputs_.route() == ForceRoute::model ||
                        std::any_of(fields.begin(), fields.end(), [this](const std::string &name) {
                          return results_.rule(name).derivative;
                        });
    if (mode_ == HaloMode::wide && inside && model_.layers.value_or(2) > 1)
      throw Error(
          {"a model of several layers that differentiates inside cannot be run with a wide halo",
           "output \"forces\", or one in /model/autograd_outputs", model_.file,
           "Use `halo exchange` with a halo policy, or export the model without these outputs"});
  }

  c10::IValue forward(Forward &run)
  {
    // Models may differentiate inside.
    const BackwardInThisThread in_this_thread;
    return of_model(model_.file, [&] {
      if (!run.interception) return call_.run(loaded_.module, run.inputs.values);
      const InterceptionGuard guard(*run.interception);
      return call_.run(loaded_.module, run.inputs.values);
    });
  }

  void take_energy(const c10::IValue &result, const ModelRows &rows,
                   const PotentialRequest &request, Forward &run, PotentialOutput &output)
  {
    const at::Tensor node_energy = results_.node_energy(result, rows);
    run.energy = results_.energy(result, node_energy, rows);
    output.energy = run.energy.item<double>();
    if (node_energy.defined()) {
      check_reductions(run, node_energy);
      if (output.tensors)
        output.tensors->node_energy.copy_(node_energy.detach());
      else
        output.node_energy = values_of(node_energy);
    } else if (request.node_energy && results_.energy_source() != EnergySource::none) {
      throw Error({"per-atom energies are asked for, and this model only gives the system's", "",
                   model_.file, "Map node_energy in /model/outputs, or leave out compute pe/atom"});
    }
    if (results_.energy_source() == EnergySource::whole) check_reductions(run, run.energy);
  }

  void take_field(const c10::IValue &result, const std::string &name, const ModelRows &rows,
                  Forward &run, PotentialOutput &output)
  {
    const at::Tensor all = results_.field(result, name, rows);
    const at::Tensor owned = all.narrow(0, 0, rows.owned);
    check_reductions(run, owned);
    const bool goes_home = results_.goes_home(name) && all.size(0) != rows.owned;
    const at::Tensor given = goes_home ? exchange_.scatter(all.detach()) : owned.detach();
    if (output.tensors)
      output.fields[name] = field_of(given.to(output.tensors->forces.device()));
    else
      output.fields[name] = {given.size(1), values_of(given)};
    run.outputs.emplace(name, owned);
  }

  void check_reductions(const Forward &run, const at::Tensor &output) const
  {
    if (run.interception && !checked_) run.interception->require_no_reduction(output);
  }

  static double volume_of(const Cell &cell)
  {
    const auto &c = cell.vectors;
    return std::abs(c[0] * (c[4] * c[8] - c[5] * c[7]) - c[1] * (c[3] * c[8] - c[5] * c[6]) +
                    c[2] * (c[3] * c[7] - c[4] * c[6]));
  }

  // Adds what the gradients say of forces and virials.
  void add_forces(const AtomGraph &graph, const PotentialRequest &request, const Gradients &found,
                  const ModelInputs &inputs, PotentialOutput &output) const
  {
    if (inputs_.route() == ForceRoute::model) return;
    if (inputs_.route() == ForceRoute::positions) {
      refuse_node_virial(request);
      if (output.tensors) {
        if (found.positions.defined())
          add_position_gradient(found.positions, inputs.positions_leaf.detach().to(at::kDouble),
                                output);
      } else if (found.positions.defined())
        add_position_forces(values_of(found.positions), values_of(inputs.positions_leaf),
                            output.forces, output.virial);
      if (found.cell.defined())
        add_cell_virial(values_of(found.cell), values_of(inputs.cell_leaf), output.virial);
      return;
    }
    if (graph.device) {
      if (found.edges.defined())
        add_edge_gradient(*graph.device,
                          found.edges.to(graph.device->vectors.device()) * inputs_.vector_sign(),
                          output);
      return;
    }
    std::vector<double> gradient(graph.vectors.size());
    if (found.edges.defined()) gradient = values_of(found.edges);
    for (double &g : gradient) g *= inputs_.vector_sign();
    add_edge_forces(graph, gradient, output.forces);
    add_edge_virial(graph, gradient, output.virial);
    if (request.node_virial)
      add_edge_node_virial(graph, gradient, VirialShare::ends, output.node_virial);
    if (request.centroid_virial)
      add_edge_node_virial(graph, gradient, VirialShare::sender, output.centroid_virial);
  }

  void refuse_node_virial(const PotentialRequest &request) const
  {
    if (request.node_virial)
      throw Error({"per-atom virials are asked for, and this model has no gradient by edges", "",
                   model_.file,
                   "Export the model so that it takes edge_vectors, or leave out computes and "
                   "dumps of per-atom stress"});
  }

  MLIPSpec spec_;
  ModelSpec model_;
  const Family &family_;
  c10::Device device_;
  LoadedModule loaded_;
  ModelCall call_;
  ModelResults results_;
  InputMaker inputs_;
  int threads_;
  std::string messages_asked_;
  std::optional<MessageChoice> messages_;
  HaloExchange exchange_;
  SystemSums sums_;
  OpAdapters adapters_;
  bool sums_over_systems_;    // by the `batch` that the model is given
  bool sums_inside_;          // these, or sums that an adapter makes
  double backward_seconds_ = 0.0;
  bool checked_ = false;    // that the model makes no reduction of its own over all rows
  FeatureCache features_;
  HaloMode mode_ = HaloMode::exchange;
  std::optional<Forward> pending_;
};

}    // namespace

std::unique_ptr<Potential> make_torchscript_potential(const ModelSpec &model,
                                                      const PotentialOptions &options,
                                                      Communicator &communicator, int local_rank)
{
  return std::make_unique<TorchScriptPotential>(model, options, communicator, local_rank);
}

}    // namespace mlip_dd
