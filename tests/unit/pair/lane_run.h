// What a GPU's lanes compute, on the CPU: a whole system on one rank.
#pragma once

#include "pair/native_run.h"
#include "potentials/pair/lane_results.h"
#include "potentials/pair/lanes.h"
#include "potentials/pair/pair_rows.h"

namespace mlip_dd::test {

// Pairs up to `cutoff` and a little beyond, as potentials keep them between reneighbourings; and
// the positions of all atoms and images that they name.
AtomGraph graph_of(const PeriodicSystem &system, double cutoff);
std::vector<double> host_positions(const PeriodicSystem &system, double cutoff);
PairRows rows_of(const PeriodicSystem &system, double cutoff, int n_types);

// All sums over lanes of a potential, as run_native gives them.
class LaneResult {
 public:
  explicit LaneResult(const PairRows &rows);

  // [n_owned]; `results`: they are energies and forces.
  template <class Work>
  std::vector<LaneSums> add(const Work &work, bool results = true)
  {
    std::vector<LaneSums> sums(output_.node_energy.size());
    run_lanes_on_host(work, static_cast<std::int64_t>(sums.size()), sums.data());
    if (results) add_lane_sums(sums, /*node_virial=*/true, output_);
    return sums;
  }
  NativeResult result() const;

 private:
  PotentialOutput output_;
};

}    // namespace mlip_dd::test
