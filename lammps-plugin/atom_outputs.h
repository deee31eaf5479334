// Per-atom outputs of the models under LAMMPS's names, for fix pair, libraries and atom->q. Lives
// as long as the pair style: LAMMPS keeps pointers into it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host_graph.h"
#include "pipeline/pipeline.h"
#include "units.h"

namespace mlip_dd {

// Names are those of the models' output fields; d_energy_d_<field> for fields that atoms carry;
// force_deviation for committees. One of several columns is name[k],
// k from 1.
class AtomOutputs {
 public:
  // What `pipeline` can give. `deviation_every`: in steps that it divides, a committee tells how
  // far its members are apart; 0 where there is no committee.
  void set_source(const Pipeline &pipeline, int deviation_every);
  std::vector<std::string> names() const { return known_; }
  bool knows(const std::string &name) const;

  // Values of local atoms and ghosts, of the last evaluation; null before one, and for names that
  // are not known. From now on the name is computed in every step; or only where flag() is not
  // zero, as long as nobody asks where it is. fix pair with a flag asks for both when it is made.
  // Throws Error where `step` is one without the name's values.
  double *values(const std::string &name, std::int64_t step);
  // `name` without "_flag" at its end; null where it has no such end.
  int *flag(const std::string &name);

  // For this step; `all`: of whatever was ever asked for. Minimisers begin without setting flags.
  void add_wanted(PipelineRequest &request, bool all);

  // After an evaluation. Atoms outside the model get zero, ghosts nothing. Throws Error where a
  // column does not exist.
  void take(const Pipeline &pipeline, const HostGraph &host, const HostUnits &units, int n_local,
            int n_all, std::int64_t step);

  // The arrays just filled.
  const std::vector<double *> &taken() const { return taken_; }

 private:
  struct Output {
    std::string field;
    std::size_t column = 0;
    bool whole = true;    // asked for without a column
    int flag = 0;
    bool always = false;
    bool now = false;    // in this step
    std::vector<double> values;
  };

  Output &find(const std::string &name);

  bool left_out(const Output &output, std::int64_t step) const;

  std::vector<std::string> known_;
  int deviation_every_ = 0;
  std::map<std::string, Output> outputs_;    // LAMMPS keeps pointers to flags: nothing is erased
  Output *just_always_ = nullptr;            // by the call of values() before
  std::vector<double *> taken_;
};

}    // namespace mlip_dd
