#include "potentials/torchscript/torchscript_potential.h"

#include <ATen/Parallel.h>
#include <c10/core/AutogradState.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <sstream>

#include "base/error.h"
#include "consolidate/device_forces.h"
#include "consolidate/edge_forces.h"
#include "consolidate/position_forces.h"
#include "halo/halo_exchange.h"
#include "halo/system_sums.h"
#include "intercept/interception.h"
#include "intercept/op_adapters.h"
#include "pipeline/output_tensors.h"
#include "potentials/thread_count.h"
#include "potentials/torchscript/device.h"
#include "potentials/torchscript/load_module.h"
#include "potentials/torchscript/model_call.h"
#include "potentials/torchscript/model_inputs.h"
#include "potentials/torchscript/operator_libraries.h"
#include "spec/families.h"

namespace mlip_dd {

namespace {

// The interpreter's message names the operator and the model's source line; what follows is a C++
// stack.
std::string without_stack(const std::string &message)
{
  const std::string text = message.substr(0, message.find("\nException raised from"));
  return text.substr(0, text.find("\nframe #"));
}

void refuse_what_is_not_run(const ModelSpec &model)
{
  if (model.units != "metal")
    throw Error({"TorchScript models are run in eV and Angstrom", "\"" + model.units + "\"",
                 "/model/units", "Export the model in these units and set \"units\": \"metal\""});
}

// While it lives, backward runs in the calling thread on every device: exchanges call MPI, which
// hosts often start without support of threads.
class BackwardInThisThread {
 public:
  BackwardInThisThread() : before_(c10::AutogradState::get_tls_state())
  {
    c10::AutogradState state = before_;
    state.set_multithreading_enabled(false);
    c10::AutogradState::set_tls_state(state);
  }
  ~BackwardInThisThread() { c10::AutogradState::set_tls_state(before_); }
  BackwardInThisThread(const BackwardInThisThread &) = delete;
  BackwardInThisThread &operator=(const BackwardInThisThread &) = delete;

 private:
  c10::AutogradState before_;
};

class TorchScriptPotential final : public Potential {
 public:
  TorchScriptPotential(const ModelSpec &model, const PotentialOptions &options,
                       Communicator &communicator, int local_rank)
      : model_(model),
        family_(require_family(model)),
        device_(choose_device(options.device, local_rank)),
        loaded_(load_module(model_, family_, device_)),
        call_(loaded_.module, model_),
        inputs_(model_, family_, device_, loaded_.dtype),
        threads_(options.threads),
        messages_asked_(options.messages),
        exchange_(communicator),
        sums_(communicator),
        adapters_(options.adapters),
        sums_over_systems_(communicator.size() > 1 && options.system_reductions &&
                           family_.sums_over_systems && model_.inputs.contains("batch")),
        sums_inside_(sums_over_systems_ || (communicator.size() > 1 && adapters_.sum_over_ranks()))
  {
    guard_operators(foreign_operators(loaded_.module));
    refuse_what_is_not_run(model);
    require_message_path(messages_asked_, device_);
    if (!model.cutoff)
      throw Error({"the model has no cutoff", "", "/model", "Add \"cutoff\" in Angstrom"});
  }

  double cutoff() const override { return *model_.cutoff; }
  bool takes_device_graph() const override { return true; }

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
    return names_without(model_.inputs, input_roles());
  }
  std::vector<std::string> output_fields() const override
  {
    return names_without(model_.outputs, output_roles());
  }

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
    const at::Tensor node_energy = node_energy_of(result, graph);
    if (inputs_.route() == ForceRoute::model) take_models_forces(result, graph, request, output);
    run.energy = node_energy.sum();
    if (run.interception && !checked_) run.interception->require_no_reduction(node_energy);
    for (const std::string &name : request.output_fields) {
      const at::Tensor field = output_field(result, name, graph);
      output.fields[name] = {field.size(1), values_of(field)};
      run.outputs.emplace(name, field);
      if (run.interception && !checked_) run.interception->require_no_reduction(field);
    }
    checked_ = true;
    if (output.tensors)
      output.tensors->node_energy.copy_(node_energy.detach());
    else
      output.node_energy = values_of(node_energy);
    output.energy = run.energy.item<double>();
    if (!request.defer) differentiate(graph, request, 1.0, {}, output);
  }

  void differentiate(const AtomGraph &graph, const PotentialRequest &request, double energy_seed,
                     const AtomFields &seeds, PotentialOutput &output) override
  {
    if (graph.n_owned == 0) {
      if (sums_inside_) sums_.replay();
      return;
    }
    const ThreadCountGuard threads(threads_);
    const Gradients found = backward(*pending_, energy_seed, seeds);
    if (sums_inside_) sums_.end();
    add_forces(graph, request, found, pending_->inputs, output);
    for (const std::string &name : request.gradients) {
      const at::Tensor &gradient = found.fields.at(name);
      if (!gradient.defined())
        throw Error({"the model's energy does not depend on one of its inputs", "\"" + name + "\"",
                     model_.file,
                     "Leave the input out of /model/inputs, or use a model that is differentiable "
                     "by it"});
      std::vector<double> &sum = output.gradients.at(name).values;
      const std::vector<double> values = values_of(gradient);
      for (std::size_t k = 0; k < values.size(); ++k) sum[k] += values[k];
    }
    pending_.reset();
  }

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
    if (messages_ && !messages_->reason.empty())
      lines.push_back(std::string("messages: rows leave from ") +
                      (messages_->path == MessagePath::device ? "GPU" : "host") + " memory; " +
                      messages_->reason);
    return lines;
  }

 private:
  // A forward whose gradients are still to be taken.
  struct Forward {
    ModelInputs inputs;
    std::optional<Interception> interception;
    at::Tensor energy;                            // of owned rows
    std::map<std::string, at::Tensor> outputs;    // [n_owned, width] float64
  };

  struct Gradients {
    // float64; undefined where nothing depends on them, or they are no leaves.
    at::Tensor edges;        // [E, 3]
    at::Tensor positions;    // [rows, 3]
    at::Tensor cell;         // [3, 3]
    std::map<std::string, at::Tensor> fields;
  };

  static std::vector<std::string> names_without(const std::map<std::string, std::string> &names,
                                                std::span<const std::string_view> roles)
  {
    std::vector<std::string> left;
    for (const auto &[role, name] : names)
      if (std::find(roles.begin(), roles.end(), role) == roles.end()) left.push_back(role);
    return left;
  }

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
    if (mode_ == HaloMode::wide && inputs_.route() == ForceRoute::model &&
        model_.layers.value_or(2) > 1)
      throw Error(
          {"a model of several layers that returns its own forces cannot be run with a "
           "wide halo",
           "output \"forces\"", model_.file,
           "Use `halo exchange`, or export the model without forces"});
  }

  c10::IValue forward(Forward &run)
  {
    // Models may differentiate inside.
    const BackwardInThisThread in_this_thread;
    try {
      if (!run.interception) return call_.run(loaded_.module, run.inputs.values);
      const InterceptionGuard guard(*run.interception);
      return call_.run(loaded_.module, run.inputs.values);
    } catch (const Error &) {
      throw;
    } catch (const std::exception &error) {
      throw Error({"the model failed", without_stack(error.what()), model_.file,
                   "If it indexes rows in a way of its own, use `halo wide`"});
    }
  }

  // [n_owned] float64, with its graph. A model that only makes fields for others has no energy.
  at::Tensor node_energy_of(const c10::IValue &result, const AtomGraph &graph) const
  {
    if (!model_.outputs.contains("node_energy"))
      return at::zeros({graph.n_owned}, at::TensorOptions().dtype(at::kDouble).device(device_));
    const at::Tensor node_energy = call_.output(result, "node_energy");
    if (node_energy.numel() != rows_held(graph) && node_energy.numel() != graph.n_owned)
      throw Error({"the model's node_energy must have one value per atom",
                   shape_for(node_energy, graph), model_.file,
                   "Name the output with one energy per atom in /model/outputs/node_energy"});
    return node_energy.reshape({-1}).narrow(0, 0, graph.n_owned).to(at::kDouble);
  }

  // [n_owned, width] float64, with its graph.
  at::Tensor output_field(const c10::IValue &result, const std::string &name,
                          const AtomGraph &graph) const
  {
    const at::Tensor field = call_.output(result, name);
    if (field.dim() == 0 || (field.size(0) != rows_held(graph) && field.size(0) != graph.n_owned))
      throw Error({"an output that is used atom by atom must have one row per atom",
                   shape_for(field, graph), model_.file + ", /model/outputs/" + name,
                   "Name an output with one row per atom"});
    return field.reshape({field.size(0), -1}).narrow(0, 0, graph.n_owned).to(at::kDouble);
  }

  std::string shape_for(const at::Tensor &tensor, const AtomGraph &graph) const
  {
    std::ostringstream shape;
    shape << "shape " << tensor.sizes() << " for " << rows_held(graph) << " atoms";
    return shape.str();
  }

  // All adjoints run on every rank that shares rows: the chain of exchanges is a root of its own.
  Gradients backward(const Forward &run, double energy_seed, const AtomFields &seeds) const
  {
    std::vector<at::Tensor> roots, root_seeds, leaves;
    std::vector<at::Tensor *> wanted;
    Gradients found;
    const auto add_leaf = [&](const at::Tensor &leaf, at::Tensor &gradient) {
      if (!leaf.defined() || !leaf.requires_grad()) return;
      leaves.push_back(leaf);
      wanted.push_back(&gradient);
    };
    add_leaf(run.inputs.edge_leaf, found.edges);
    if (inputs_.route() == ForceRoute::positions) {
      add_leaf(run.inputs.positions_leaf, found.positions);
      add_leaf(run.inputs.cell_leaf, found.cell);
    }
    for (const auto &[name, leaf] : run.inputs.field_leaves) add_leaf(leaf, found.fields[name]);
    // The model has differentiated already, or there is nothing to differentiate by.
    if (wanted.empty()) return found;
    if (run.energy.requires_grad()) {
      roots.push_back(run.energy);
      root_seeds.push_back(at::full_like(run.energy, energy_seed));
    }
    for (const auto &[name, seed] : seeds) {
      const at::Tensor &field = run.outputs.at(name);
      if (!field.requires_grad()) continue;
      const at::Tensor host = at::from_blob(const_cast<double *>(seed.values.data()), field.sizes(),
                                            at::TensorOptions().dtype(at::kDouble));
      roots.push_back(field);
      root_seeds.push_back(host.to(device_, at::kDouble, /*non_blocking=*/false, /*copy=*/true));
    }
    if (run.interception && run.interception->token_root().grad_fn()) {
      roots.push_back(run.interception->token_root());
      root_seeds.push_back(at::zeros_like(run.interception->token_root()));
      leaves.push_back(run.interception->token_leaf());
    }
    if (roots.empty()) return found;
    const BackwardInThisThread in_this_thread;
    const auto gradients = torch::autograd::grad(roots, leaves, root_seeds, /*retain_graph=*/false,
                                                 /*create_graph=*/false, /*allow_unused=*/true);
    for (std::size_t k = 0; k < wanted.size(); ++k)
      if (gradients[k].defined()) *wanted[k] = gradients[k].to(at::kDouble).contiguous();
    return found;
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
    if (request.node_virial) add_edge_node_virial(graph, gradient, output.node_virial);
  }

  void take_models_forces(const c10::IValue &result, const AtomGraph &graph,
                          const PotentialRequest &request, PotentialOutput &output) const
  {
    refuse_node_virial(request);
    const at::Tensor made_forces = call_.output(result, "forces").detach();
    const at::Tensor made_virial = call_.output(result, "virial").detach();
    if (made_forces.numel() != 3 * rows_held(graph) || made_virial.numel() != 9)
      throw Error({"the model's forces must have three numbers per atom and its virial nine",
                   std::to_string(made_forces.numel()) + " and " +
                       std::to_string(made_virial.numel()) + " for " +
                       std::to_string(rows_held(graph)) + " atoms",
                   model_.file, "Correct /model/outputs"});
    if (output.tensors) return mlip_dd::add_forces(made_forces.view({-1, 3}), made_virial, output);
    const std::vector<double> forces = values_of(made_forces), virial = values_of(made_virial);
    for (std::size_t k = 0; k < forces.size(); ++k) output.forces[k] += forces[k];
    for (std::size_t k = 0; k < 9; ++k) output.virial[k] += virial[k];
  }

  void refuse_node_virial(const PotentialRequest &request) const
  {
    if (request.node_virial)
      throw Error({"per-atom virials are asked for, and this model has no gradient by edges", "",
                   model_.file,
                   "Export the model so that it takes edge_vectors, or leave out computes and "
                   "dumps of per-atom stress"});
  }

  ModelSpec model_;
  const Family &family_;
  c10::Device device_;
  LoadedModule loaded_;
  ModelCall call_;
  InputMaker inputs_;
  int threads_;
  std::string messages_asked_;
  std::optional<MessageChoice> messages_;
  HaloExchange exchange_;
  SystemSums sums_;
  OpAdapters adapters_;
  bool sums_over_systems_;    // by the `batch` that the model is given
  bool sums_inside_;          // these, or sums that an adapter makes
  bool checked_ = false;      // that the model makes no reduction of its own over all rows
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
