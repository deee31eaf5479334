#include "potentials/torchscript/model_inputs.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "graph/device_graph.h"
#include "graph/edge_shifts.h"
#include "halo/row_arrays.h"
#include "intercept/interception.h"
#include "pipeline/field_rows.h"
#include "spec/elements.h"

namespace mlip_dd {

namespace {

// Parameters that are the value of an input of one number.
constexpr std::array<const char *, 2> kNumberInputs{"total_charge", "total_spin"};

void check_parameters(const ModelSpec &model)
{
  for (const auto &[key, value] : model.parameters.items()) {
    if (std::find(kNumberInputs.begin(), kNumberInputs.end(), key) == kNumberInputs.end())
      throw Error({"a TorchScript model has no such parameter", "\"" + key + "\"",
                   "/model/parameters", "Remove the key: what the model needs is in its file"});
    if (!value.is_number() || !model.inputs.contains(key))
      throw Error({"the parameter must be a number, and of a model that takes it as an input",
                   value.dump(), "/model/parameters/" + key, "Correct or remove it"});
  }
}

at::Tensor one_number(std::int64_t value) { return at::full({1}, value, at::kLong); }

// Of the atoms' positions, what this rank's rows are: each owned one, then each halo one as its
// owner holds it.
std::vector<double> positions_of_rows(const AtomGraph &graph, const HostStep &step,
                                      HaloExchange &exchange)
{
  std::vector<double> positions;
  positions.reserve(3 * static_cast<std::size_t>(graph.n_rows()));
  for (const std::int32_t atom : graph.owned_atoms)
    for (std::size_t a = 0; a < 3; ++a)
      positions.push_back(step.positions[3 * static_cast<std::size_t>(atom) + a]);
  gather_array(exchange, positions, 3);
  return positions;
}

}    // namespace

ForceRoute choose_force_route(const ModelSpec &model, const MLIPSpec &spec)
{
  const auto takes = [&](const char *role) { return model.inputs.contains(role); };
  const auto gives = [&](const char *role) { return model.outputs.contains(role); };
  const bool own_forces =
      spec.compile ? spec.compile->force_strategy == ForceStrategy::ModelInternal : gives("forces");
  if (own_forces) {
    if (!gives("virial") && !gives("stress") && !gives("node_virial"))
      throw Error({"a model that returns forces must return its virial too", "", "/model/outputs",
                   "Map \"virial\", \"stress\" or \"node_virial\", or use an export of the model "
                   "without forces"});
    return ForceRoute::model;
  }
  if (takes("edge_vectors") || takes("edge_shifts")) return ForceRoute::edge_vectors;
  if (takes("positions") && takes("edge_unit_shifts") && takes("cell"))
    return ForceRoute::positions;
  throw Error({"the model takes nothing that forces and virial could be made by", "",
               "/model/inputs",
               "Map edge_vectors; or positions and edge_shifts; or positions, edge_unit_shifts and "
               "cell"});
}

InputMaker::InputMaker(const ModelSpec &model, const Family &family, ForceRoute route,
                       c10::Device device, c10::ScalarType dtype)
    : model_(model), family_(family), device_(device), dtype_(dtype), route_(route)
{
  check_parameters(model);
}

bool InputMaker::wants(std::string_view role) const
{
  return model_.inputs.contains(std::string(role));
}

void InputMaker::new_rows()
{
  of_rows_.clear();
  batch_.reset();
}

const at::Tensor &InputMaker::batch(const AtomGraph &graph, std::int64_t rows)
{
  if (!batch_.defined()) make_rows(graph, rows);
  return batch_;
}

at::Tensor InputMaker::real(const std::vector<double> &values, std::int64_t width) const
{
  const at::Tensor host = at::from_blob(const_cast<double *>(values.data()),
                                        {static_cast<std::int64_t>(values.size()) / width, width},
                                        at::TensorOptions().dtype(at::kDouble));
  return host.to(device_, dtype_, /*non_blocking=*/false, /*copy=*/true);
}

at::Tensor InputMaker::real(const at::Tensor &values) const
{
  return values.to(device_, dtype_, /*non_blocking=*/false, /*copy=*/true);
}

at::Tensor InputMaker::edge_index_of(const DeviceGraph &graph) const
{
  const at::Tensor &found = graph.edge_index;
  if (family_.receiver_row == 0 && found.device() == device_) return found;
  at::Tensor index = empty_edge_index(found.size(1), found.options().device(device_));
  index[0].copy_(found[family_.receiver_row]);
  index[1].copy_(found[1 - family_.receiver_row]);
  return index;
}

at::Tensor InputMaker::edge_index_of(const std::vector<std::int64_t> &receivers,
                                     const std::vector<std::int64_t> &senders) const
{
  const at::Tensor host = family_.receiver_row == 0 ? make_edge_index(receivers, senders)
                                                    : make_edge_index(senders, receivers);
  if (device_.is_cpu()) return host;
  at::Tensor index = empty_edge_index(host.size(1), host.options().device(device_));
  index.copy_(host);
  return index;
}

// [rows] or [rows, width], with a gradient.
at::Tensor InputMaker::field_leaf(const AtomField &field, std::int64_t rows) const
{
  const at::Tensor all = real(rows_of(field)).narrow(0, 0, rows);
  return (field.width == 1 ? all.squeeze(1) : all).clone().requires_grad_(true);
}

// What changes only with the rows.
void InputMaker::make_rows(const AtomGraph &graph, std::int64_t rows)
{
  at::Tensor types = at::empty({rows}, at::kLong);
  if (graph.device)
    types.copy_(graph.device->types.narrow(0, 0, rows));
  else
    std::copy_n(graph.types.begin(), rows, types.mutable_data_ptr<std::int64_t>());
  std::vector<std::int64_t> numbers;
  for (const std::string &element : model_.elements) numbers.push_back(atomic_number(element));
  const auto kinds = static_cast<std::int64_t>(numbers.size());
  batch_ = at::zeros({rows}, at::TensorOptions().dtype(at::kLong).device(device_));
  of_rows_["types"] = types.to(device_);
  of_rows_["atomic_numbers"] = at::tensor(numbers, at::kLong).index_select(0, types).to(device_);
  of_rows_["node_attributes"] = at::one_hot(types, kinds).to(device_, dtype_);
  of_rows_["batch"] = batch_;
  of_rows_["batch_bounds"] = at::tensor({std::int64_t{0}, rows}, at::kLong).to(device_);
  of_rows_["owned_mask"] = at::arange(rows, batch_.options()).lt(graph.n_owned);
  of_rows_["n_owned"] = one_number(rows);
  of_rows_["num_atoms"] = one_number(rows).to(device_);
  for (const char *name : kNumberInputs)
    of_rows_[name] = at::full({1}, model_.parameters.value(name, 0.0),
                              at::TensorOptions().dtype(dtype_).device(device_));
  of_rows_["virial_wanted"] = true;
}

void InputMaker::add_edges(const AtomGraph &graph, ModelInputs &inputs) const
{
  inputs.edge_index =
      graph.device ? edge_index_of(*graph.device) : edge_index_of(graph.receivers, graph.senders);
  inputs.values["edge_index"] = inputs.edge_index;
  if (!wants("edge_vectors")) return;
  inputs.edge_leaf = (graph.device ? real(graph.device->vectors) : real(graph.vectors, 3))
                         .mul_(vector_sign())
                         .requires_grad_(route_ == ForceRoute::edge_vectors);
  inputs.values["edge_vectors"] = inputs.edge_leaf;
}

void InputMaker::add_positions(const AtomGraph &graph, const HostStep &step, std::int64_t rows,
                               HaloExchange &exchange, ModelInputs &inputs) const
{
  at::Tensor positions, shifts;
  if (graph.device) {
    const at::Tensor all = exchange.gather(graph.device->owned_positions());
    shifts = real(edge_unit_shifts(*graph.device, all, step.cell));
    positions = real(all.narrow(0, 0, rows));
  } else {
    std::vector<double> all = positions_of_rows(graph, step, exchange);
    shifts = real(edge_unit_shifts(graph, all, step.cell), 3);
    all.resize(3 * static_cast<std::size_t>(rows));
    positions = real(all, 3);
  }
  const at::Tensor cell =
      real({step.cell.vectors.begin(), step.cell.vectors.end()}, 3).requires_grad_(false);
  // Positions always have a gradient, so that they are never taken for features of types alone.
  inputs.positions_leaf = positions.requires_grad_(true);
  inputs.values["positions"] = inputs.positions_leaf;
  inputs.cell_leaf = cell.requires_grad_(route_ == ForceRoute::positions);
  inputs.values["cell"] = inputs.cell_leaf;
  const at::Tensor unit_shifts = shifts.mul_(vector_sign());
  inputs.values["edge_unit_shifts"] = unit_shifts;
  if (!wants("edge_shifts")) return;
  const at::Tensor cartesian = unit_shifts.matmul(cell.detach());
  // dr/dshift = 1, so the gradient by shifts is the gradient by edge vectors.
  const bool leaf = route_ == ForceRoute::edge_vectors && !wants("edge_vectors");
  inputs.values["edge_shifts"] = cartesian.requires_grad_(leaf);
  if (leaf) inputs.edge_leaf = cartesian;
}

ModelInputs InputMaker::make(const AtomGraph &graph, const HostStep &step, const AtomFields *fields,
                             std::int64_t rows, HaloExchange &exchange)
{
  if (!batch_.defined()) make_rows(graph, rows);
  ModelInputs inputs;
  inputs.values = of_rows_;
  add_edges(graph, inputs);
  const std::array<const char *, 4> from_positions{"positions", "edge_shifts", "edge_unit_shifts",
                                                   "cell"};
  if (std::any_of(from_positions.begin(), from_positions.end(),
                  [&](const char *role) { return wants(role); }))
    add_positions(graph, step, rows, exchange, inputs);
  for (const auto &[role, name] : model_.inputs) {
    const auto roles = input_roles();
    if (std::find(roles.begin(), roles.end(), role) != roles.end()) continue;
    const at::Tensor leaf = field_leaf(fields->at(role), rows);
    inputs.field_leaves.emplace(role, leaf);
    inputs.values[role] = leaf;
  }
  return inputs;
}

}    // namespace mlip_dd
