#include "pipeline/model_runner.h"

#include <chrono>
#include <utility>

#include "halo/halo_exchange.h"
#include "halo/row_arrays.h"

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
  const Timer timer(times_.build);
  BuildOptions options;
  options.reach = potential_->cutoff() + skin;
  options.layers_held = realisation_.layers_held;
  HaloPlan plan = build_graph(communicator_, atoms, neighbours, options, graph_);
  potential_->set_plan(plan, realisation_.mode);
  exchange_->set_plan(std::move(plan));
}

void ModelRunner::evaluate(const HostStep &step, const PotentialRequest &request)
{
  if (potential_->uses_edges()) {
    const Timer timer(times_.select);
    select_edges(graph_, step.positions, potential_->cutoff());
  }
  const auto rows = static_cast<std::size_t>(graph_.n_rows());
  output_.energy = 0.0;
  output_.virial.fill(0.0);
  output_.node_energy.assign(static_cast<std::size_t>(graph_.n_owned), 0.0);
  output_.forces.assign(3 * rows, 0.0);
  output_.node_virial.assign(request.node_virial ? 9 * rows : 0, 0.0);
  output_.charge_gradient.assign(request.charge_gradient ? rows : 0, 0.0);
  {
    const Timer timer(times_.model);
    potential_->evaluate(graph_, step, request, output_);
  }
  const Timer timer(times_.home);
  scatter_array(*exchange_, output_.forces, 3);
  if (request.node_virial) scatter_array(*exchange_, output_.node_virial, 9);
  if (request.charge_gradient) scatter_array(*exchange_, output_.charge_gradient, 1);
}

GraphCounts ModelRunner::counts() const
{
  const HaloPlan &plan = exchange_->plan();
  GraphCounts counts;
  counts.owned = graph_.n_owned;
  counts.halo = graph_.n_halo;
  counts.model_rows = realisation_.mode == HaloMode::wide ? graph_.n_rows() : graph_.n_owned;
  counts.candidates = static_cast<std::int64_t>(graph_.candidates.size());
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
