// pair_style mlip/dd: a machine-learned potential from a spec file, on any number of ranks.
#pragma once

#include <pair.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace mlip_dd {
class AtomOutputs;
class ExtractedValues;
struct HostStep;
}    // namespace mlip_dd

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

  // Scalars: cutoff; <per-atom output>_flag, which fix pair sets; outputs of the whole system, see
  // ExtractedValues. Per-atom: see AtomOutputs.
  void *extract(const char *name, int &dimension) override;
  void *extract_peratom(const char *name, int &columns) override;

  void write_restart(FILE *file) override;
  void read_restart(FILE *file) override;
  void write_restart_settings(FILE *file) override;
  void read_restart_settings(FILE *file) override;

  int pack_forward_comm(int n, int *list, double *buffer, int, int *) override;
  void unpack_forward_comm(int n, int first, double *buffer) override;

 protected:
  struct State;    // keeps torch out of LAMMPS's sight
  std::unique_ptr<State> state_;
  std::unique_ptr<mlip_dd::AtomOutputs> outputs_;
  std::vector<double> step_energies_;    // pvector's
  double *travelling_ = nullptr;    // what forward communication carries; null: owners of ghosts

  // All that concerns LAMMPS's arrays, for a variant that keeps them elsewhere.
  virtual void prepare_arrays(int eflag, int vflag);
  virtual void refuse_removed_pairs();    // collective: in new neighbour lists
  virtual void find_owners();             // of ghosts, there
  virtual void rebuild_graphs();    // after find_owners(); communicates by our communicator alone
  virtual mlip_dd::HostStep present_step();
  virtual void require_finite();
  virtual void add_results();
  void take_outputs();    // communicates nothing
  virtual void take_charges();
  void forward_outputs();    // to ghosts
  virtual void forward_charges();
  virtual void forward_values(double *values);
  // Throws on all ranks where a run came without init_style().
  void require_set_up();
  bool rebuilds_now() const;    // whether compute() makes the graphs anew
  // Of all atoms together.
  void add_sums();
  void log_lines(const std::vector<std::string> &lines);
  // What the keywords mean where they leave it open.
  virtual std::string device() const;
  virtual int default_threads() const { return 1; }
  virtual std::vector<std::string> describe_setting() const;

 private:
  struct Restored;
  std::unique_ptr<Restored> restored_;
  std::unique_ptr<mlip_dd::ExtractedValues> extracted_;
  double cutoff_ = 0.0;    // LAMMPS's unit of length

  void allocate();
  std::unique_ptr<State> make_state(const std::vector<std::string> &arguments);
  void adopt(std::unique_ptr<State> state);
  void load_models(const std::vector<std::string> &element_names);
  void require_charges() const;
  void make_from_restart();
  bool passes_on() const;
  void refuse_unsupported();
  bool find_owners_anew();
  void pass_warnings_on();
};

}    // namespace LAMMPS_NS
