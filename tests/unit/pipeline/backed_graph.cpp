#include "pipeline/backed_graph.h"

#include <ATen/ATen.h>

#include "consolidate/edge_forces.h"
#include "graph/device_graph.h"
#include "intercept/interception.h"
#include "potentials/pair/device_pairs.h"

namespace mlip_dd::test {

namespace {

at::Tensor copy_of(std::vector<double> values, std::int64_t width)
{
  return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size()) / width, width},
                       at::kDouble)
      .clone();
}

std::span<double> span_of(const at::Tensor &tensor)
{
  return {tensor.mutable_data_ptr<double>(), static_cast<std::size_t>(tensor.numel())};
}

class BackedGraph final : public DeviceGraph {
 public:
  BackedGraph(AtomGraph graph, const VirtualRank &view, const at::Device &device)
      : graph_(std::move(graph)), view_(view), device_(device)
  {
    const auto n = static_cast<std::int64_t>(graph_.types.size());
    n_candidates = static_cast<std::int64_t>(graph_.candidates.size());
    types = at::from_blob(graph_.types.data(), {n}, at::kInt).to(device, at::kLong);
  }

  void select_edges(double cutoff) override
  {
    mlip_dd::select_edges(graph_, view_.step().positions, cutoff);
    edge_index = make_edge_index(graph_.receivers, graph_.senders).to(device_);
    vectors = copy_of(graph_.vectors, 3).to(device_);
  }

  void add_edge_forces(const at::Tensor &gradient, at::Tensor &forces) const override
  {
    const at::Tensor sums = forces.cpu();
    mlip_dd::add_edge_forces(graph_, span_of(gradient.cpu().contiguous()), span_of(sums));
    forces.copy_(sums);
  }

  void add_edge_node_virial(const at::Tensor &gradient, VirialShare share,
                            at::Tensor &node_virial) const override
  {
    const at::Tensor sums = node_virial.cpu();
    mlip_dd::add_edge_node_virial(graph_, span_of(gradient.cpu().contiguous()), share,
                                  span_of(sums));
    node_virial.copy_(sums);
  }

  void lay_out_pairs(int n_types, DevicePairs &pairs) const override
  {
    set_rows(rows_, graph_, n_types);
    upload_pairs(rows_, device_, pairs);
  }

  void place_pairs(DevicePairs &pairs) const override
  {
    set_positions(rows_, view_.step().positions);
    upload_positions(rows_, pairs);
  }

  at::Tensor owned_positions() const override { return owned({view_.step().positions, 3}); }

  at::Tensor owned_field(const std::string &name) const override
  {
    const HostStep step = view_.step();
    const auto found = step.fields.find(name);
    return found == step.fields.end() ? at::Tensor() : owned(found->second);
  }

 private:
  at::Tensor owned(const HostField &field) const
  {
    std::vector<double> values;
    const auto width = static_cast<std::size_t>(field.width);
    for (const std::int32_t atom : graph_.owned_atoms)
      for (std::size_t k = 0; k < width; ++k)
        values.push_back(field.values[width * static_cast<std::size_t>(atom) + k]);
    return copy_of(values, field.width).to(device_);
  }

  AtomGraph graph_;
  mutable PairRows rows_;
  const VirtualRank &view_;
  at::Device device_;
};

}    // namespace

HaloPlan BackedSource::build(Communicator &communicator, std::span<const std::int32_t> model_types,
                             const BuildOptions &options, AtomGraph &graph)
{
  const NeighbourList neighbours = view_.neighbours();
  HostGraphSource source(view_.atoms(), neighbours);
  HaloPlan plan = source.build(communicator, model_types, options, graph);
  if (!options.on_device) return plan;
  AtomGraph whole = graph;
  graph = {};
  graph.n_owned = whole.n_owned;
  graph.n_halo = whole.n_halo;
  graph.owned_atoms = whole.owned_atoms;
  graph.device = std::make_shared<BackedGraph>(std::move(whole), view_, device_);
  return plan;
}

}    // namespace mlip_dd::test
