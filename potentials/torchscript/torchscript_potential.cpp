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
#include "consolidate/edge_forces.h"
#include "halo/halo_exchange.h"
#include "halo/system_sums.h"
#include "intercept/interception.h"
#include "potentials/thread_count.h"
#include "potentials/torchscript/device.h"
#include "potentials/torchscript/load_module.h"
#include "potentials/torchscript/model_call.h"
#include "spec/elements.h"
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

at::Tensor one_number(std::int64_t value) { return at::full({1}, value, at::kLong); }

void refuse_what_is_not_run(const ModelSpec &model)
{
  if (model.units != "metal")
    throw Error({"TorchScript models are run in eV and Angstrom", "\"" + model.units + "\"",
                 "/model/units", "Export the model in these units and set \"units\": \"metal\""});
  if (!model.libraries.empty())
    throw Error({"libraries of operators are not loaded by this version",
                 "\"" + model.libraries.front() + "\"", "/model/libraries",
                 "Export the model with torch's own operators and remove the key"});
  for (const auto &[key, value] : model.parameters.items())
    if ((key != "total_charge" && key != "total_spin") || !model.inputs.contains(key) ||
        !value.is_number())
      throw Error(
          {"a parameter of a TorchScript model must be a number that the model takes as an "
           "input, total_charge or total_spin",
           "\"" + key + "\": " + value.dump(), "/model/parameters/" + key,
           "Correct or remove the key"});
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
        threads_(options.threads),
        exchange_(communicator),
        sums_(communicator),
        sums_over_systems_(communicator.size() > 1 && options.system_reductions &&
                           family_.sums_over_systems && model_.inputs.contains("batch"))
  {
    refuse_what_is_not_run(model);
    if (!model.cutoff)
      throw Error({"the model has no cutoff", "", "/model", "Add \"cutoff\" in Angstrom"});
  }

  double cutoff() const override { return *model_.cutoff; }

  void set_plan(const HaloPlan &plan, HaloMode mode) override
  {
    mode_ = mode;
    exchange_.set_plan(plan);
    features_.clear();
    sums_.forget_constants();
    types_.reset();
  }

  std::vector<std::string> input_fields() const override
  {
    return names_without(model_.inputs, input_roles());
  }
  std::vector<std::string> output_fields() const override
  {
    return names_without(model_.outputs, output_roles());
  }

  void evaluate(const AtomGraph &graph, const HostStep &, const PotentialRequest &request,
                PotentialOutput &output) override
  {
    pending_.reset();
    // Edges end at owned atoms and pairs are mutual, so a rank without atoms shares no rows with
    // anyone. Many models fail on no rows at all: it runs none, and adds nothing to the sums.
    sums_.begin();
    if (graph.n_owned == 0) {
      if (sums_over_systems_) sums_.replay();
      if (!request.defer) differentiate(graph, request, 1.0, {}, output);
      return;
    }

    const ThreadCountGuard threads(threads_);
    // Autograd must see each operator; the optimising executor would differentiate whole blocks
    // itself.
    const torch::jit::GraphOptimizerEnabledGuard unoptimised(false);
    const at::AutoGradMode grad_mode(true);
    Forward &run = pending_.emplace();
    run.edge_vectors = edge_vectors_of(graph);
    const at::Tensor edge_index = edge_index_of(graph);
    for (const std::string &name : input_fields())
      run.fields.emplace(name, field_leaf(graph, request.fields->at(name)));
    types_of(graph);    // made outside the interception
    if (exchange_.communicator().size() > 1) {
      InterceptionOptions how;
      how.receiver_row = family_.receiver_row;
      how.keep_constant_features = family_.constant_features_depend_on_types_only;
      how.storage = mode_ == HaloMode::wide ? RowStorage::local : RowStorage::owned;
      how.sums = sums_over_systems_ ? &sums_ : nullptr;
      how.batch = batch_;
      how.check_reductions = !checked_;
      run.interception.emplace(exchange_, features_, edge_index, how);
    }

    const c10::IValue result = forward(graph, run, edge_index);
    if (sums_over_systems_) sums_.pause();
    const at::Tensor node_energy = node_energy_of(result, graph);
    run.energy = node_energy.sum();
    if (run.interception && !checked_) run.interception->require_no_reduction(node_energy);
    for (const std::string &name : request.output_fields) {
      const at::Tensor field = output_field(result, name, graph);
      output.fields[name] = {field.size(1), to_host(field)};
      run.outputs.emplace(name, field);
      if (run.interception && !checked_) run.interception->require_no_reduction(field);
    }
    checked_ = true;
    const std::vector<double> host = to_host(node_energy);
    std::copy(host.begin(), host.end(), output.node_energy.begin());
    output.energy = run.energy.item<double>();
    if (!request.defer) differentiate(graph, request, 1.0, {}, output);
  }

  void differentiate(const AtomGraph &graph, const PotentialRequest &request, double energy_seed,
                     const AtomFields &seeds, PotentialOutput &output) override
  {
    if (graph.n_owned == 0) {
      if (sums_over_systems_) sums_.replay();
      return;
    }
    const ThreadCountGuard threads(threads_);
    const Gradients found = backward(*pending_, energy_seed, seeds);
    if (sums_over_systems_) sums_.end();
    if (found.edge_vectors.defined()) {
      const std::span<const double> values(found.edge_vectors.const_data_ptr<double>(),
                                           graph.vectors.size());
      add_edge_forces(graph, values, output.forces);
      add_edge_virial(graph, values, output.virial);
      if (request.node_virial) add_edge_node_virial(graph, values, output.node_virial);
    }
    for (const std::string &name : request.gradients) {
      const at::Tensor &gradient = found.fields.at(name);
      if (!gradient.defined())
        throw Error({"the model's energy does not depend on one of its inputs", "\"" + name + "\"",
                     model_.file,
                     "Leave the input out of /model/inputs, or use a model that is differentiable "
                     "by it"});
      std::vector<double> &sum = output.gradients.at(name).values;
      const std::vector<double> values = to_host(gradient);
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
    return {text.str()};
  }

 private:
  // A forward whose gradients are still to be taken.
  struct Forward {
    at::Tensor edge_vectors;                     // leaf
    std::map<std::string, at::Tensor> fields;    // leaves
    std::optional<Interception> interception;
    at::Tensor energy;                            // of owned rows
    std::map<std::string, at::Tensor> outputs;    // [n_owned, width] float64
  };

  struct Gradients {
    at::Tensor edge_vectors;    // float64 [E, 3] on the CPU; undefined where nothing depends on it
    std::map<std::string, at::Tensor> fields;    // undefined likewise
  };

  static std::vector<std::string> names_without(const std::map<std::string, std::string> &names,
                                                std::span<const std::string_view> roles)
  {
    std::vector<std::string> left;
    for (const auto &[role, name] : names)
      if (std::find(roles.begin(), roles.end(), role) == roles.end()) left.push_back(role);
    return left;
  }

  static std::vector<double> to_host(const at::Tensor &tensor)
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
    return mode_ == HaloMode::wide ? graph.n_rows() : graph.n_owned;
  }

  at::Tensor edge_vectors_of(const AtomGraph &graph) const
  {
    const at::Tensor host =
        at::from_blob(const_cast<double *>(graph.vectors.data()), {graph.n_edges(), 3},
                      at::TensorOptions().dtype(at::kDouble));
    return host.to(device_, loaded_.dtype, /*non_blocking=*/false, /*copy=*/true)
        .requires_grad_(true);
  }

  // [rows] or [rows, width], with a gradient.
  at::Tensor field_leaf(const AtomGraph &graph, const AtomField &field) const
  {
    const at::Tensor host =
        at::from_blob(const_cast<double *>(field.values.data()), {graph.n_rows(), field.width},
                      at::TensorOptions().dtype(at::kDouble))
            .narrow(0, 0, rows_held(graph));
    return (field.width == 1 ? host.squeeze(1) : host)
        .to(device_, loaded_.dtype, /*non_blocking=*/false, /*copy=*/true)
        .requires_grad_(true);
  }

  at::Tensor edge_index_of(const AtomGraph &graph) const
  {
    const at::Tensor host = family_.receiver_row == 0
                                ? make_edge_index(graph.receivers, graph.senders)
                                : make_edge_index(graph.senders, graph.receivers);
    if (device_.is_cpu()) return host;
    at::Tensor index = empty_edge_index(graph.n_edges(), host.options().device(device_));
    index.copy_(host);
    return index;
  }

  // Types change only with the rows, so their tensors are made once per plan.
  const at::Tensor &types_of(const AtomGraph &graph)
  {
    if (!types_.defined()) {
      const std::int64_t rows = rows_held(graph);
      types_ = at::empty({rows}, at::kLong);
      std::copy_n(graph.types.begin(), rows, types_.mutable_data_ptr<std::int64_t>());
      std::vector<std::int64_t> numbers;
      for (const std::string &element : model_.elements) numbers.push_back(atomic_number(element));
      atomic_numbers_ = at::tensor(numbers, at::kLong).index_select(0, types_).to(device_);
      types_ = types_.to(device_);
      batch_ = at::zeros({rows}, at::TensorOptions().dtype(at::kLong).device(device_));
    }
    return types_;
  }

  at::Tensor input(const std::string &role, const AtomGraph &graph, const Forward &run,
                   const at::Tensor &edge_index)
  {
    if (const auto field = run.fields.find(role); field != run.fields.end()) return field->second;
    if (role == "edge_vectors") return run.edge_vectors;
    if (role == "edge_index") return edge_index;
    if (role == "types") return types_of(graph);
    if (role == "atomic_numbers") return types_of(graph), atomic_numbers_;
    if (role == "n_owned") return one_number(rows_held(graph));
    if (role == "num_atoms") return one_number(rows_held(graph)).to(device_);
    if (role == "batch") return batch_;
    if (role == "total_charge" || role == "total_spin")
      return at::full({1}, model_.parameters.value(role, 0.0),
                      at::TensorOptions().dtype(loaded_.dtype).device(device_));
    throw Error({"no input is known by this name", "\"" + role + "\"", "/model/inputs", ""});
  }

  c10::IValue forward(const AtomGraph &graph, Forward &run, const at::Tensor &edge_index)
  {
    const auto make = [&](const std::string &role) { return input(role, graph, run, edge_index); };
    try {
      if (!run.interception) return call_.run(loaded_.module, make);
      const InterceptionGuard guard(*run.interception);
      return call_.run(loaded_.module, make);
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
    if (node_energy.numel() != rows_held(graph))
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
    if (field.dim() == 0 || field.size(0) != rows_held(graph))
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
    std::vector<at::Tensor> roots, root_seeds, leaves{run.edge_vectors};
    for (const auto &[name, leaf] : run.fields) leaves.push_back(leaf);
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
    Gradients found;
    for (const auto &[name, leaf] : run.fields) found.fields[name];
    if (roots.empty()) return found;
    const BackwardInThisThread in_this_thread;
    const auto gradients = torch::autograd::grad(roots, leaves, root_seeds, /*retain_graph=*/false,
                                                 /*create_graph=*/false, /*allow_unused=*/true);
    if (gradients[0].defined())
      found.edge_vectors = gradients[0].to(at::kCPU, at::kDouble).contiguous();
    std::size_t k = 1;
    for (const auto &[name, leaf] : run.fields) found.fields[name] = gradients[k++];
    return found;
  }

  ModelSpec model_;
  const Family &family_;
  c10::Device device_;
  LoadedModule loaded_;
  ModelCall call_;
  int threads_;
  HaloExchange exchange_;
  SystemSums sums_;
  bool sums_over_systems_;
  bool checked_ = false;    // that the model makes no reduction of its own over all rows
  FeatureCache features_;
  HaloMode mode_ = HaloMode::exchange;
  at::Tensor types_;
  at::Tensor atomic_numbers_;
  at::Tensor batch_;
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
