// Outputs of the whole system as single numbers under names, for LAMMPS's extract and for Python.
// Lives as long as the pair style: others keep pointers into it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "pipeline/pipeline.h"

namespace mlip_dd {

// A single number has its output's name; one of several is name[i] or name[i][j], from 1. In the
// model's own units.
class ExtractedValues {
 public:
  // What `pipeline` can give. Outputs with a kind are computed in every step; those without one may
  // be per atom, and are computed once they were asked for.
  void set_source(const Pipeline &pipeline);

  // Where the number stands, the same on all ranks, not a number before an evaluation made it; null
  // for other names. Throws Error, listing them, where an output has numbers and none of this name.
  double *find(const std::string &name);

  // Collective: what one rank asked for, all compute.
  void add_wanted(Communicator &communicator, PipelineRequest &request);
  void take(const Pipeline &pipeline);

 private:
  using Place = std::map<std::string, double>::iterator;

  std::map<std::string, bool> known_;    // output; whether it has a kind
  std::set<std::string> asked_for_;
  std::map<std::string, double> values_;                // by number; nothing is erased
  std::map<std::string, std::vector<Place>> places_;    // by output, since its first evaluation
};

}    // namespace mlip_dd
