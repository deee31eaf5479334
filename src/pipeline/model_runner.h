// One model on one rank: keeps its graph and plan, evaluates it, and brings forces home to their owners.
// No torch, no LAMMPS.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "graph/build.h"
#include "pipeline/potential.h"

namespace mlip_dd {

// Results for owned rows. eV, Angstrom; virial as in consolidate/edge_forces.h, this rank's part.
struct RunnerOutput {
  double energy = 0.0;
  std::array<double, 9> virial{};
  std::vector<double> node_energy;    // [n_owned]
  std::vector<double> forces;         // [n_owned, 3]
  std::vector<double> node_virial;    // [n_owned, 9]; empty unless asked for
};

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
  double forces = 0.0;    // forces and virials from edge gradients, and their exchange
};

class ModelRunner {
 public:
  // Keeps a reference to `communicator`. `layers` rounds of message passing are held locally when the
  // mode is wide.
  ModelRunner(Communicator &communicator, std::unique_ptr<Potential> potential, HaloMode mode, int layers);
  ~ModelRunner();

  const Potential &potential() const { return *potential_; }

  // Collective, at each reneighbouring. `skin` in Angstrom.
  void rebuild(const HostAtoms &atoms, const NeighbourList &neighbours, double skin);

  // Collective. `positions` as in HostAtoms, moved since the rebuild.
  void evaluate(std::span<const double> positions, bool want_node_virial);
  const RunnerOutput &output() const { return output_; }    // of the last evaluate()

  const AtomGraph &graph() const { return graph_; }
  GraphCounts counts() const;
  const RunnerTimes &times() const { return times_; }
  // Exchanges of features and of forces, on this rank, so far.
  Traffic traffic() const;

 private:
  struct ForceExchange;

  Communicator &communicator_;
  std::unique_ptr<Potential> potential_;
  std::unique_ptr<ForceExchange> force_exchange_;
  HaloMode mode_;
  int layers_;
  AtomGraph graph_;
  PotentialOutput potential_output_;
  RunnerOutput output_;
  RunnerTimes times_;
};

}    // namespace mlip_dd
