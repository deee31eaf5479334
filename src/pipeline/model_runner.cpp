#include "pipeline/model_runner.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <chrono>

#include "consolidate/edge_forces.h"
#include "halo/halo_exchange.h"

namespace mlip_dd {

namespace {

class Timer {
 public:
  explicit Timer(double &total) : total_(total), start_(std::chrono::steady_clock::now()) {}
  ~Timer()
  {
    total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  double &total_;
  std::chrono::steady_clock::time_point start_;
};

}    // namespace

struct ModelRunner::ForceExchange {
  explicit ForceExchange(Communicator &communicator) : exchange(communicator) {}

  // rows [n_rows, width] -> the same vector, cut to [n_owned, width] with halo rows added to their owners.
  void bring_home(std::vector<double> &rows, std::int64_t width)
  {
    const HaloPlan &plan = exchange.plan();
    if (!plan.isolated()) {
      const at::Tensor all = at::from_blob(rows.data(), {plan.n_rows(), width}, at::kDouble);
      const at::Tensor owned = exchange.scatter(all);
      std::copy_n(owned.const_data_ptr<double>(), owned.numel(), rows.data());
    }
    rows.resize(static_cast<std::size_t>(plan.n_owned * width));
  }

  HaloExchange exchange;
};

ModelRunner::ModelRunner(Communicator &communicator, std::unique_ptr<Potential> potential, HaloMode mode,
                         int layers)
    : communicator_(communicator), potential_(std::move(potential)),
      force_exchange_(std::make_unique<ForceExchange>(communicator)), mode_(mode), layers_(layers)
{
}

ModelRunner::~ModelRunner() = default;

void ModelRunner::rebuild(const HostAtoms &atoms, const NeighbourList &neighbours, double skin)
{
  const Timer timer(times_.build);
  BuildOptions options;
  options.reach = potential_->cutoff() + skin;
  options.layers_held = mode_ == HaloMode::wide ? layers_ : 1;
  HaloPlan plan = build_graph(communicator_, atoms, neighbours, options, graph_);
  potential_->set_plan(plan, mode_);
  force_exchange_->exchange.set_plan(std::move(plan));
}

void ModelRunner::evaluate(std::span<const double> positions, bool want_node_virial)
{
  {
    const Timer timer(times_.select);
    select_edges(graph_, positions, potential_->cutoff());
  }
  {
    const Timer timer(times_.model);
    potential_->evaluate(graph_, potential_output_);
  }
  const Timer timer(times_.forces);
  const std::span<const double> gradient(potential_output_.edge_gradient);
  const auto rows = static_cast<std::size_t>(graph_.n_rows());
  output_.energy = potential_output_.energy;
  output_.node_energy = potential_output_.node_energy;
  output_.forces.assign(3 * rows, 0.0);
  add_edge_forces(graph_, gradient, output_.forces);
  force_exchange_->bring_home(output_.forces, 3);
  output_.virial.fill(0.0);
  add_edge_virial(graph_, gradient, output_.virial);
  output_.node_virial.clear();
  if (want_node_virial) {
    output_.node_virial.assign(9 * rows, 0.0);
    add_edge_node_virial(graph_, gradient, output_.node_virial);
    force_exchange_->bring_home(output_.node_virial, 9);
  }
}

GraphCounts ModelRunner::counts() const
{
  const HaloPlan &plan = force_exchange_->exchange.plan();
  GraphCounts counts;
  counts.owned = graph_.n_owned;
  counts.halo = graph_.n_halo;
  counts.model_rows = mode_ == HaloMode::wide ? graph_.n_rows() : graph_.n_owned;
  counts.candidates = static_cast<std::int64_t>(graph_.candidates.size());
  counts.neighbour_ranks = static_cast<std::int64_t>(plan.halo_peers.size());
  return counts;
}

Traffic ModelRunner::traffic() const
{
  Traffic total = potential_->traffic();
  const Traffic &forces = force_exchange_->exchange.traffic();
  total.gathers += forces.gathers;
  total.scatters += forces.scatters;
  total.messages_sent += forces.messages_sent;
  total.bytes_sent += forces.bytes_sent;
  total.seconds += forces.seconds;
  return total;
}

}    // namespace mlip_dd
