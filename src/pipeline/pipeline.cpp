#include "pipeline/pipeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "graph/device_graph.h"
#include "pipeline/field_rows.h"
#include "pipeline/output_tensors.h"
#include "spec/families.h"

namespace mlip_dd {

namespace {

// Charges in float32 sum to their total to about this, in e per atom.
constexpr double kChargeRoundOff = 1e-6;

bool has(const std::vector<std::string> &names, const std::string &name)
{
  return std::find(names.begin(), names.end(), name) != names.end();
}

void add(std::vector<double> &to, const std::vector<double> &values, double factor)
{
  to.resize(std::max(to.size(), values.size()), 0.0);
  for (std::size_t k = 0; k < values.size(); ++k) to[k] += factor * values[k];
}

void add(SystemValue &to, const SystemValue &value, double factor)
{
  to.shape = value.shape;
  add(to.values, value.values, factor);
}

// The sum is where its first term is. A rank without atoms may have nothing of a field.
void add(AtomField &to, const AtomField &field, double factor)
{
  const at::Tensor sum = rows_of(to), rows = rows_of(field);
  if (sum.size(0) == 0)
    to = multiplied(field, factor);
  else if (rows.size(0) > 0)
    sum.add_(rows.to(sum.device()), factor);
}

// Models on a device and models on the host are summed apart: the sum has tensors, arrays or both.
void add(std::shared_ptr<OutputTensors> &to, const std::shared_ptr<OutputTensors> &from,
         at::Tensor OutputTensors::*into, at::Tensor OutputTensors::*which, double factor)
{
  if (!from || !(from.get()->*which).defined()) return;
  if (!to) to = std::make_shared<OutputTensors>();
  const at::Tensor &values = from.get()->*which;
  at::Tensor &sum = to.get()->*into;
  if (sum.defined())
    sum.add_(values, factor);
  else
    sum = values.mul(factor);
}

}    // namespace

Pipeline::Pipeline(Communicator &communicator, std::vector<PipelineMember> members, Wiring wiring,
                   const std::vector<std::string> &additive, OtherOutputs others)
    : communicator_(communicator),
      wiring_(std::move(wiring)),
      additive_(additive),
      others_(others),
      energies_(members.size(), 0.0)
{
  for (PipelineMember &member : members)
    members_.push_back({std::move(member.name),
                        std::make_unique<ModelRunner>(communicator, std::move(member.potential),
                                                      std::move(member.realisation)),
                        std::move(member.types),
                        member.weight,
                        member.neutralize,
                        member.total_charge,
                        {},
                        {}});
  for (const auto &wires : wiring_.wires)
    for (const FieldWire &wire : wires) {
      std::vector<std::string> &outputs = members_[wire.producer].wired_outputs;
      if (!has(outputs, wire.output)) outputs.push_back(wire.output);
    }
}

double Pipeline::cutoff() const
{
  double largest = 0.0;
  for (const Member &member : members_)
    largest = std::max(largest, member.runner->potential().cutoff());
  return largest;
}

double Pipeline::wide_reach(double skin) const
{
  double reach = 0.0;
  for (const Member &member : members_)
    if (member.runner->realisation().mode == HaloMode::wide)
      reach = std::max(reach, member.runner->realisation().layers_held *
                                  (member.runner->potential().cutoff() + skin));
  return reach;
}

void Pipeline::rebuild(const HostAtoms &atoms, const NeighbourList &neighbours, double skin)
{
  HostGraphSource source(atoms, neighbours);
  rebuild(source, skin);
}

void Pipeline::rebuild(GraphSource &source, double skin)
{
  for (auto s = wiring_.order.begin(); s != wiring_.order.end(); ++s) {
    Member &member = members_[*s];
    const auto same = std::find_if(wiring_.order.begin(), s, [&](std::size_t earlier) {
      return members_[earlier].types == member.types &&
             members_[earlier].runner->can_share_graph_with(*member.runner, source.device());
    });
    if (same != s) {
      member.runner->share_graph_of(*members_[*same].runner);
      continue;
    }
    member.runner->rebuild(source, member.types, skin);
  }
}

void Pipeline::evaluate(const HostStep &step, const PipelineRequest &request)
{
  request_ = request;
  if (request.centroid_virial) warn_of_flux();
  for (const std::size_t s : wiring_.order) {
    Member &member = members_[s];
    const Potential &potential = member.runner->potential();
    PotentialRequest own;
    own.node_energy = request.node_energy;
    own.centroid_virial = request.centroid_virial && potential.has_centroid_virial();
    own.node_virial =
        request.node_virial || (request.centroid_virial && !potential.has_centroid_virial());
    own.defer = member.defers();
    own.output_fields = member.wired_outputs;
    for (const std::string &name : potential.output_fields())
      if (has(request.output_fields, name) && !has(own.output_fields, name))
        own.output_fields.push_back(name);
    for (const auto &[name, rule] : potential.system_outputs())
      if (has(request.system_outputs, name)) own.system_outputs.push_back(name);
    for (const FieldWire &wire : wiring_.wires[s]) own.gradients.push_back(wire.input);
    for (const std::string &name : wiring_.host_fields[s])
      if (has(request.gradients, name)) own.gradients.push_back(name);
    member.runner->evaluate(step, own, inputs_of(s, step));
    member.seeds.clear();
    for (const std::string &name : member.wired_outputs) {
      member.seeds[name] = zeros_like(member.runner->output().fields.at(name));
    }
  }
  for (auto s = wiring_.order.rbegin(); s != wiring_.order.rend(); ++s) {
    Member &member = members_[*s];
    if (member.defers()) member.runner->differentiate(member.weight, member.seeds);
    pass_gradients_on(*s);
  }
  add_up();
}

AtomFields Pipeline::inputs_of(std::size_t s, const HostStep &host)
{
  const Member &member = members_[s];
  const AtomGraph &graph = member.runner->graph();
  const std::vector<std::string> &of_atoms = wiring_.host_fields[s];
  AtomFields fields = graph.device ? owned_device_fields(*graph.device, of_atoms, member.name)
                                   : owned_host_fields(graph, host, of_atoms, member.name);
  for (const FieldWire &wire : wiring_.wires[s]) {
    const Member &producer = members_[wire.producer];
    const AtomField &made = producer.runner->output().fields.at(wire.output);
    AtomField &field = fields[wire.input] =
        graph.device ? on_device(made, graph.device->types.device()) : on_host(made);
    if (wire.input != kChargesField) continue;
    if (field.width != 1)
      throw Error({"charges must be one number per atom",
                   std::to_string(field.width) + " numbers per atom",
                   "output " + wire.output + " of model " + producer.name,
                   "Wire an output with one number per atom"});
    if (member.neutralize != Neutralize::None) neutralise(member, field);
  }
  return fields;
}

void Pipeline::neutralise(const Member &member, AtomField &charges)
{
  const at::Tensor rows = rows_of(charges);
  std::array<double, 2> sums{rows.sum().item<double>(), static_cast<double>(rows.numel())};
  communicator_.sum(sums);
  const auto [total, atoms] = sums;
  if (atoms == 0.0) return;
  const double missing = member.total_charge - total;
  if (member.neutralize == Neutralize::Shift) {
    charges = multiplied(charges, 1.0);    // the producer keeps its own
    rows_of(charges).add_(missing / atoms);
  } else if (std::abs(missing) > kChargeRoundOff * atoms)
    throw Error(
        {"the charges wired to the model " + member.name + " do not sum to its total_charge",
         "sum " + std::to_string(total) + " e for a total of " +
             std::to_string(member.total_charge) + " e",
         "", "Set \"neutralize\": \"shift\", or correct the producer or \"total_charge\""});
}

void Pipeline::warn_of_flux()
{
  if (std::exchange(warned_of_flux_, true)) return;
  for (const Member &member : members_) {
    const std::string caveat = member.defers() ? member.name + " feeds other models"
                                               : member.runner->potential().flux_caveat();
    if (!caveat.empty())
      warnings_.push_back(
          "centroid/stress/atom gives the exact heat flux where the energy of an "
          "atom depends on its own neighbours alone; " +
          caveat + ", and compute heat/flux is an approximation");
  }
}

// What the energy of step s, and of those that it feeds, gains from the outputs wired to it.
void Pipeline::pass_gradients_on(std::size_t s)
{
  const Member &member = members_[s];
  const double factor = member.defers() ? 1.0 : member.weight;
  for (const FieldWire &wire : wiring_.wires[s]) {
    const at::Tensor gradient = rows_of(member.runner->output().gradients.at(wire.input));
    double mean = 0.0;
    // Adding (Q - sum q) / N to each charge takes the mean out of the gradient.
    if (wire.input == kChargesField && member.neutralize == Neutralize::Shift) {
      std::array<double, 2> sums{gradient.sum().item<double>(),
                                 static_cast<double>(gradient.numel())};
      communicator_.sum(sums);
      if (sums[1] > 0.0) mean = sums[0] / sums[1];
    }
    const at::Tensor seed = rows_of(members_[wire.producer].seeds.at(wire.output));
    if (seed.size(0) > 0) seed.add_(gradient.sub(mean).to(seed.device()), factor);
  }
}

void Pipeline::fill_arrays()
{
  for (Member &member : members_) member.runner->fill_arrays();
}

// Members that share pairs evenly have one array for both.
void Pipeline::add_virials(bool centroid_apart, const PotentialOutput &own, double factor)
{
  if (request_.node_virial) {
    add(sum_.node_virial, own.node_virial, factor);
    add(sum_.tensors, own.tensors, &OutputTensors::node_virial, &OutputTensors::node_virial,
        factor);
  }
  if (!request_.centroid_virial) return;
  add(sum_.centroid_virial, centroid_apart ? own.centroid_virial : own.node_virial, factor);
  add(sum_.tensors, own.tensors, &OutputTensors::centroid_virial,
      centroid_apart ? &OutputTensors::centroid_virial : &OutputTensors::node_virial, factor);
}

bool Pipeline::adds(const std::string &key) const { return has(additive_, key); }

const PotentialOutput &Pipeline::output() const
{
  const Member &first = members_.front();
  return members_.size() == 1 && first.weight == 1.0 ? first.runner->output() : sum_;
}

std::vector<std::string> Pipeline::take_warnings()
{
  std::vector<std::string> all = std::exchange(warnings_, {});
  for (Member &member : members_)
    for (std::string &warning : member.runner->take_warnings()) all.push_back(std::move(warning));
  return all;
}

void Pipeline::add_up()
{
  for (std::size_t s = 0; s < members_.size(); ++s)
    energies_[s] = members_[s].weight * members_[s].runner->output().energy;
  if (&output() != &sum_) return;
  sum_.energy = 0.0;
  sum_.virial.fill(0.0);
  for (auto *values : {&sum_.node_energy, &sum_.forces, &sum_.node_virial, &sum_.centroid_virial})
    values->clear();
  sum_.tensors.reset();
  sum_.fields.clear();
  sum_.systems.clear();
  sum_.gradients.clear();
  for (std::size_t s = 0; s < members_.size(); ++s) {
    const Member &member = members_[s];
    const PotentialOutput &own = member.runner->output();
    const double factor = member.defers() ? 1.0 : member.weight;
    if (s == 0 || adds("energy")) {
      sum_.energy += energies_[s];
      add(sum_.node_energy, own.node_energy, member.weight);
      add(sum_.tensors, own.tensors, &OutputTensors::node_energy, &OutputTensors::node_energy,
          member.weight);
    }
    if (s == 0 || adds("forces")) {
      add(sum_.forces, own.forces, factor);
      add(sum_.tensors, own.tensors, &OutputTensors::forces, &OutputTensors::forces, factor);
    }
    if (s == 0 || adds("stress")) {
      for (std::size_t k = 0; k < 9; ++k) sum_.virial[k] += factor * own.virial[k];
      add_virials(member.runner->potential().has_centroid_virial(), own, factor);
    }
    const bool mean = others_ == OtherOutputs::mean;
    const double share = mean ? member.weight : 1.0;
    for (const auto &[name, field] : own.fields)
      if (has(request_.output_fields, name) && (!sum_.fields.contains(name) || adds(name) || mean))
        add(sum_.fields[name], field, share);
    for (const auto &[name, value] : own.systems)
      if (!sum_.systems.contains(name) || adds(name) || mean) add(sum_.systems[name], value, share);
    for (const std::string &name : wiring_.host_fields[s])
      if (const auto found = own.gradients.find(name); found != own.gradients.end())
        add(sum_.gradients[name], found->second, factor);
  }
}

}    // namespace mlip_dd
