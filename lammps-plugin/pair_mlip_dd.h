// pair_style mlip/dd: a machine-learned potential from a spec file, on any number of ranks.
#pragma once

#include <pair.h>

#include <memory>

namespace LAMMPS_NS {

class PairMlipDD : public Pair {
 public:
  explicit PairMlipDD(LAMMPS *lammps);
  ~PairMlipDD() override;

  void settings(int narg, char **arg) override;
  void coeff(int narg, char **arg) override;
  void init_style() override;
  double init_one(int i, int j) override;
  void compute(int eflag, int vflag) override;
  void finish() override;
  double memory_usage() override;

  int pack_forward_comm(int n, int *list, double *buffer, int, int *) override;
  void unpack_forward_comm(int n, int first, double *buffer) override;

 private:
  struct State;    // keeps torch out of LAMMPS's sight
  std::unique_ptr<State> state_;

  void allocate();
  void refuse_unsupported();
  void rebuild_if_reneighboured();
  void log_lines(const std::vector<std::string> &lines);
  void add_results();
};

}    // namespace LAMMPS_NS
