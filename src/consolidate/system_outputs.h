// Outputs of the whole system, from what each rank's model gave to the one value that all ranks
// know. No torch, no LAMMPS.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "consolidate/output_rules.h"

namespace mlip_dd {

struct SystemValue {
  std::vector<std::int64_t> shape;    // empty: one number
  std::vector<double> values;
};
using SystemValues = std::map<std::string, SystemValue>;

// The ranks that run a model: those with atoms, since many models fail on none.
struct RunningRanks {
  std::int64_t count = 0;
  int first = -1;    // the lowest; -1: none
};

// Collective.
RunningRanks find_running_ranks(Communicator &communicator, bool runs);

// Keeps the shapes that ranks without atoms can't see: they must stay as they were at first.
class SystemOutputs {
 public:
  // Collective. `own` holds the raw value of each output in `rules` on a rank that runs the model,
  // and nothing on others. Parts are summed; of the rest the first running rank's value counts.
  // Without any, outputs of unknown shape are left out. Throws Error where a shape changes, and
  // where an output should be the same on all ranks and is not.
  SystemValues consolidate(Communicator &communicator, const RunningRanks &running,
                           const std::map<std::string, OutputRule> &rules, const SystemValues &own);

 private:
  bool agree_on_shape(Communicator &communicator, const std::string &name, const SystemValue *own);

  std::map<std::string, std::vector<std::int64_t>> shapes_;
};

}    // namespace mlip_dd
