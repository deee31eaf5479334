// The tensors that a scripted model is given, by role: made from a rank's graph once per plan or
// once per evaluation. See families.h for what each role means.
#pragma once

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/atom_graph.h"
#include "graph/host_atoms.h"
#include "halo/halo_exchange.h"
#include "pipeline/atom_fields.h"
#include "spec/families.h"
#include "spec/mlip_spec.h"
#include "spec/model_spec.h"

namespace mlip_dd {

// By what the energy is differentiated to get forces.
enum class ForceRoute {
  edge_vectors,    // edge vectors, or their shifts: the same gradient
  positions,       // positions and lattice vectors
  model            // not at all: the model returns forces
};

// By the spec's force_strategy, or without one by what the model returns. Throws Error where inputs
// and outputs allow no route, or leave one without a virial.
ForceRoute choose_force_route(const ModelSpec &model, const MLIPSpec &spec);

// Of one evaluation. Leaves have a gradient; those that the route does not need are undefined.
struct ModelInputs {
  std::map<std::string, c10::IValue> values;    // every input of the spec
  at::Tensor edge_index;                        // [2, E], as made by make_edge_index
  at::Tensor edge_leaf;                         // [E, 3] edge vectors or shifts
  at::Tensor positions_leaf;                    // [n, 3]
  at::Tensor cell_leaf;                         // [3, 3]
  std::map<std::string, at::Tensor> field_leaves;
};

class InputMaker {
 public:
  // Throws Error for parameters of the spec that are not known or contradict its inputs.
  InputMaker(const ModelSpec &model, const Family &family, ForceRoute route, c10::Device device,
             c10::ScalarType dtype);

  ForceRoute route() const { return route_; }
  // What edge vectors, shifts and their gradients are multiplied by, from our convention to the
  // model's and back.
  double vector_sign() const { return family_.vectors_end_at_receiver ? -1.0 : 1.0; }

  // After a new plan: rows have changed.
  void new_rows();

  // int64 [rows] zeros, the system of each row; made with the rows.
  const at::Tensor &batch(const AtomGraph &graph, std::int64_t rows);

  // `rows`: how many the model's node tensors have, n_owned or n_owned + n_halo. `fields` holds the
  // per-atom fields that the spec's inputs name. Collective, in the sense of `exchange`, where an
  // input needs positions.
  ModelInputs make(const AtomGraph &graph, const HostStep &step, const AtomFields *fields,
                   std::int64_t rows, HaloExchange &exchange);

 private:
  bool wants(std::string_view role) const;
  at::Tensor real(const std::vector<double> &values, std::int64_t width) const;
  at::Tensor real(const at::Tensor &values) const;
  at::Tensor edge_index_of(const DeviceGraph &graph) const;
  at::Tensor edge_index_of(const std::vector<std::int64_t> &receivers,
                           const std::vector<std::int64_t> &senders) const;
  at::Tensor field_leaf(const AtomField &field, std::int64_t rows) const;
  void make_rows(const AtomGraph &graph, std::int64_t rows);
  void add_edges(const AtomGraph &graph, ModelInputs &inputs) const;
  void add_positions(const AtomGraph &graph, const HostStep &step, std::int64_t rows,
                     HaloExchange &exchange, ModelInputs &inputs) const;

  const ModelSpec &model_;
  const Family &family_;
  c10::Device device_;
  c10::ScalarType dtype_;
  ForceRoute route_;
  std::map<std::string, c10::IValue> of_rows_;
  at::Tensor batch_;
};

}    // namespace mlip_dd
