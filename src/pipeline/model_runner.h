// One model on one rank: keeps its graph and plan, evaluates it, and brings forces home to their
// owners. No torch, no LAMMPS.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "graph/graph_source.h"
#include "pipeline/potential.h"
#include "pipeline/realisation.h"

namespace mlip_dd {

// What the log tells after a rebuild, on this rank.
struct GraphCounts {
  std::int64_t owned = 0;
  std::int64_t halo = 0;
  std::int64_t model_rows = 0;    // rows the model computes on
  std::int64_t candidates = 0;
  std::int64_t neighbour_ranks = 0;
};

struct RunnerTimes {
  double build = 0.0;      // graphs and plans
  double select = 0.0;     // edges within the cutoff
  double model = 0.0;      // forward and backward, exchanges included
  double home = 0.0;       // bringing forces and virials to their owners
  double outputs = 0.0;    // consolidating outputs of the system
};

class HaloExchange;

class ModelRunner {
 public:
  // Keeps a reference to `communicator`.
  ModelRunner(Communicator &communicator, std::unique_ptr<Potential> potential,
              Realisation realisation);
  ~ModelRunner();

  const Potential &potential() const { return *potential_; }
  std::vector<std::string> take_warnings() { return potential_->take_warnings(); }
  const Realisation &realisation() const { return realisation_; }

  // Collective, at each reneighbouring. `skin` in Angstrom; `model_types` as in GraphSource.
  void rebuild(GraphSource &source, std::span<const std::int32_t> model_types, double skin);
  void rebuild(const HostAtoms &atoms, const NeighbourList &neighbours, double skin);

  // Whether the same atoms, types and skin would give both the same graph, used in the same way.
  // `device`: that of the graphs' source.
  bool can_share_graph_with(const ModelRunner &other, const std::string &device) const;
  // Instead of rebuild(): uses the graph and plan of `other`, which has been rebuilt and in each
  // step evaluates first.
  void share_graph_of(const ModelRunner &other);

  // Collective. `step` has the atoms of the last rebuild, moved. `fields` are the potential's input
  // fields, [n_owned, width]; those of the request are not read.
  void evaluate(const HostStep &step, const PotentialRequest &request,
                const AtomFields &fields = {});
  // Collective. After an evaluate() that deferred; see Potential::differentiate.
  void differentiate(double energy_seed, const AtomFields &seeds);
  // Of the last evaluation, with owned rows alone: what halo rows held has been added to their
  // owners; outputs of the system are the same on all ranks.
  const PotentialOutput &output() const { return output_; }
  // For readers of its arrays: fills them where there are tensors in their place.
  void fill_arrays();

  const AtomGraph &graph() const { return *graph_; }
  GraphCounts counts() const;
  const RunnerTimes &times() const { return times_; }
  // Exchanges of features and of forces, on this rank, so far.
  Traffic traffic() const;

 private:
  void take_plan(HaloPlan plan);    // collective
  void clear_output(const PotentialRequest &request);
  void gather_fields(const AtomFields &fields);
  void consolidate_systems();
  void bring_home();

  Communicator &communicator_;
  std::unique_ptr<Potential> potential_;
  std::unique_ptr<HaloExchange> exchange_;
  Realisation realisation_;
  SystemOutputs systems_;
  RunningRanks running_;
  std::shared_ptr<AtomGraph> graph_ = std::make_shared<AtomGraph>();
  bool borrows_graph_ = false;
  PotentialRequest request_;
  AtomFields fields_;    // of all rows
  PotentialOutput output_;
  RunnerTimes times_;
};

}    // namespace mlip_dd
