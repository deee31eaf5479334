// One model on one rank: keeps its graph and plan, evaluates it, and brings forces home to their
// owners. No torch, no LAMMPS.
#pragma once

#include <memory>

#include "comm/communicator.h"
#include "graph/build.h"
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
  double build = 0.0;     // graphs and plans
  double select = 0.0;    // edges within the cutoff
  double model = 0.0;     // forward and backward, exchanges included
  double home = 0.0;      // bringing forces and virials to their owners
};

class HaloExchange;

class ModelRunner {
 public:
  // Keeps a reference to `communicator`.
  ModelRunner(Communicator &communicator, std::unique_ptr<Potential> potential,
              Realisation realisation);
  ~ModelRunner();

  const Potential &potential() const { return *potential_; }
  const Realisation &realisation() const { return realisation_; }

  // Collective, at each reneighbouring. `skin` in Angstrom.
  void rebuild(const HostAtoms &atoms, const NeighbourList &neighbours, double skin);

  // Collective. `step` has the atoms of the last rebuild, moved.
  void evaluate(const HostStep &step, const PotentialRequest &request);
  // Of the last evaluate(), with owned rows alone: what halo rows held has been added to their
  // owners.
  const PotentialOutput &output() const { return output_; }

  const AtomGraph &graph() const { return graph_; }
  GraphCounts counts() const;
  const RunnerTimes &times() const { return times_; }
  // Exchanges of features and of forces, on this rank, so far.
  Traffic traffic() const;

 private:
  Communicator &communicator_;
  std::unique_ptr<Potential> potential_;
  std::unique_ptr<HaloExchange> exchange_;
  Realisation realisation_;
  AtomGraph graph_;
  PotentialOutput output_;
  RunnerTimes times_;
};

}    // namespace mlip_dd
