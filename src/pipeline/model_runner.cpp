#include "pipeline/model_runner.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "base/timer.h"
#include "graph/device_graph.h"
#include "halo/halo_exchange.h"
#include "halo/row_arrays.h"
#include "pipeline/field_rows.h"
#include "pipeline/output_tensors.h"

namespace mlip_dd {

namespace {

// In the memory that the tensor has, where it is of this size and nobody else's. On the CPU without
// torch, whose operators cost more than a small system's numbers.
void set_zeros(at::Tensor &tensor, at::IntArrayRef sizes, const at::TensorOptions &options)
{
  if (!tensor.defined() || tensor.sizes() != sizes || tensor.device() != options.device() ||
      !tensor.is_contiguous() || tensor.use_count() > 1 || tensor.storage().use_count() > 1) {
    tensor = at::zeros(sizes, options);
  } else if (tensor.is_cpu()) {
    std::fill_n(tensor.mutable_data_ptr<double>(), tensor.numel(), 0.0);
  } else {
    tensor.zero_();
  }
}

}    // namespace

ModelRunner::ModelRunner(Communicator &communicator, std::unique_ptr<Potential> potential,
                         Realisation realisation)
    : communicator_(communicator),
      potential_(std::move(potential)),
      exchange_(std::make_unique<HaloExchange>(communicator)),
      realisation_(std::move(realisation))
{}

ModelRunner::~ModelRunner() = default;

void ModelRunner::rebuild(const HostAtoms &atoms, const NeighbourList &neighbours, double skin)
{
  HostGraphSource source(atoms, neighbours);
  rebuild(source, {}, skin);
}

void ModelRunner::rebuild(GraphSource &source, std::span<const std::int32_t> model_types,
                          double skin)
{
  const Timer timer(times_.build);
  if (borrows_graph_) graph_ = std::make_shared<AtomGraph>();
  borrows_graph_ = false;
  BuildOptions options;
  options.reach = potential_->cutoff() + skin;
  options.layers_held = realisation_.layers_held;
  options.on_device = potential_->takes_device_graph(source.device());
  options.every_atom = realisation_.every_atom;
  HaloPlan plan = source.build(communicator_, model_types, options, *graph_);
  take_plan(std::move(plan));
}

bool ModelRunner::can_share_graph_with(const ModelRunner &other, const std::string &device) const
{
  return potential_->cutoff() == other.potential_->cutoff() &&
         potential_->uses_edges() == other.potential_->uses_edges() &&
         potential_->takes_device_graph(device) == other.potential_->takes_device_graph(device) &&
         realisation_.mode == other.realisation_.mode &&
         realisation_.layers_held == other.realisation_.layers_held &&
         realisation_.every_atom == other.realisation_.every_atom;
}

void ModelRunner::share_graph_of(const ModelRunner &other)
{
  const Timer timer(times_.build);
  graph_ = other.graph_;
  borrows_graph_ = true;
  take_plan(other.exchange_->plan());
}

void ModelRunner::take_plan(HaloPlan plan)
{
  potential_->set_plan(plan, realisation_.mode);
  exchange_->set_message_path(potential_->sends_from_gpu() ? MessagePath::device
                                                           : MessagePath::host);
  exchange_->set_plan(std::move(plan));
  running_ = find_running_ranks(communicator_, graph_->n_owned > 0);
}

void ModelRunner::evaluate(const HostStep &step, const PotentialRequest &request,
                           const AtomFields &fields)
{
  if (potential_->uses_edges() && !borrows_graph_) {
    const Timer timer(times_.select);
    if (graph_->device)
      graph_->device->select_edges(potential_->cutoff());
    else
      select_edges(*graph_, step.positions, potential_->cutoff());
  }
  gather_fields(fields);
  request_ = request;
  request_.fields = &fields_;
  request_.running = running_;
  clear_output(request);
  {
    const Timer timer(times_.model);
    potential_->evaluate(*graph_, step, request_, output_);
  }
  // A rank without atoms may have run no model.
  for (const std::string &name : request.output_fields) output_.fields.try_emplace(name);
  consolidate_systems();
  if (!request.defer) bring_home();
}

void ModelRunner::clear_output(const PotentialRequest &request)
{
  const std::int64_t rows = potential_->adds_to_halo_rows() ? graph_->n_rows() : graph_->n_owned;
  output_.energy = 0.0;
  output_.virial.fill(0.0);
  for (auto *values :
       {&output_.node_energy, &output_.forces, &output_.node_virial, &output_.centroid_virial})
    values->clear();
  if (graph_->device) {
    const at::TensorOptions options =
        at::TensorOptions().dtype(at::kDouble).device(graph_->device->types.device());
    if (!output_.tensors || output_.tensors.use_count() > 1)
      output_.tensors = std::make_shared<OutputTensors>();
    OutputTensors &tensors = *output_.tensors;
    set_zeros(tensors.node_energy, {graph_->n_owned}, options);
    set_zeros(tensors.forces, {rows, 3}, options);
    const auto set_virials = [&](bool wanted, at::Tensor &virials) {
      if (wanted)
        set_zeros(virials, {rows, 9}, options);
      else
        virials = at::Tensor();
    };
    set_virials(request.node_virial, tensors.node_virial);
    set_virials(request.centroid_virial, tensors.centroid_virial);
  } else {
    const auto n = static_cast<std::size_t>(rows);
    output_.node_energy.assign(static_cast<std::size_t>(graph_->n_owned), 0.0);
    output_.forces.assign(3 * n, 0.0);
    output_.node_virial.assign(request.node_virial ? 9 * n : 0, 0.0);
    output_.centroid_virial.assign(request.centroid_virial ? 9 * n : 0, 0.0);
    output_.tensors.reset();
  }
  output_.fields.clear();
  output_.systems.clear();
  output_.gradients.clear();
  for (const std::string &name : request.gradients) {
    const std::int64_t width = fields_.at(name).width;
    if (output_.tensors)
      output_.gradients[name] =
          field_of(at::zeros({rows, width}, output_.tensors->forces.options()));
    else
      output_.gradients[name] = {width,
                                 std::vector<double>(static_cast<std::size_t>(rows * width), 0.0)};
  }
}

void ModelRunner::differentiate(double energy_seed, const AtomFields &seeds)
{
  {
    const Timer timer(times_.model);
    potential_->differentiate(*graph_, request_, energy_seed, seeds, output_);
  }
  bring_home();
}

void ModelRunner::gather_fields(const AtomFields &fields)
{
  const Timer timer(times_.model);
  fields_ = fields;
  for (auto &[name, field] : fields_)
    if (field.tensor)
      field = field_of(exchange_->gather(field.tensor->rows));
    else
      gather_array(*exchange_, field.values, field.width);
}

void ModelRunner::consolidate_systems()
{
  if (request_.system_outputs.empty()) return;
  const Timer timer(times_.outputs);
  std::map<std::string, OutputRule> wanted;
  const auto known = potential_->system_outputs();
  for (const std::string &name : request_.system_outputs) wanted.emplace(name, known.at(name));
  output_.systems = systems_.consolidate(communicator_, running_, wanted, output_.systems);
}

void ModelRunner::bring_home()
{
  if (!potential_->adds_to_halo_rows()) return;
  const Timer timer(times_.home);
  if (OutputTensors *tensors = output_.tensors.get()) {
    for (at::Tensor *rows : {&tensors->forces, &tensors->node_virial, &tensors->centroid_virial})
      if (rows->defined()) *rows = exchange_->scatter(*rows);
  } else {
    scatter_array(*exchange_, output_.forces, 3);
    if (request_.node_virial) scatter_array(*exchange_, output_.node_virial, 9);
    if (request_.centroid_virial) scatter_array(*exchange_, output_.centroid_virial, 9);
  }
  for (auto &[name, gradient] : output_.gradients)
    if (gradient.tensor)
      gradient = field_of(exchange_->scatter(gradient.tensor->rows));
    else
      scatter_array(*exchange_, gradient.values, gradient.width);
}

void ModelRunner::fill_arrays() { copy_to_arrays(output_); }

GraphCounts ModelRunner::counts() const
{
  const HaloPlan &plan = exchange_->plan();
  GraphCounts counts;
  counts.owned = graph_->n_owned;
  counts.halo = graph_->n_halo;
  counts.model_rows = realisation_.mode == HaloMode::exchange ? graph_->n_owned : graph_->n_rows();
  counts.candidates = graph_->device ? graph_->device->n_candidates
                                     : static_cast<std::int64_t>(graph_->candidates.size());
  counts.neighbour_ranks = static_cast<std::int64_t>(plan.halo_peers.size());
  return counts;
}

Traffic ModelRunner::traffic() const
{
  Traffic total = potential_->traffic();
  total += exchange_->traffic();
  return total;
}

}    // namespace mlip_dd
