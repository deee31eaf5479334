// Several models over one owned partition, evaluated together: each with its own graph and halo,
// results summed, per-atom outputs of one feeding others. One model is a pipeline of one step.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "pipeline/model_runner.h"
#include "pipeline/wiring.h"

namespace mlip_dd {

struct PipelineMember {
  std::string name;
  std::unique_ptr<Potential> potential;
  Realisation realisation;
  std::vector<std::int32_t> types;    // type of the host's atoms -> of this model; < 0: not in it
  double weight = 1.0;
  Neutralize neutralize = Neutralize::None;
  double total_charge = 0.0;
};

struct PipelineRequest {
  bool node_virial = false;
  bool centroid_virial = false;               // as the heat flux needs it
  std::vector<std::string> output_fields;     // of any model
  std::vector<std::string> gradients;         // of fields that atoms carry: d(energy)/d(field)
  std::vector<std::string> system_outputs;    // of any model
  bool node_energy = true;                    // refused where a model only knows the total
};

// What becomes of outputs that several members give and nobody named additive.
enum class OtherOutputs {
  first,    // the first member's count
  mean      // their sum by weights, which are a committee's shares of one
};

class Pipeline {
 public:
  // `additive`: which of energy, forces, stress and other outputs are summed over the members.
  // Keeps a reference to `communicator`.
  Pipeline(Communicator &communicator, std::vector<PipelineMember> members, Wiring wiring,
           const std::vector<std::string> &additive, OtherOutputs others = OtherOutputs::first);

  std::size_t size() const { return members_.size(); }
  const std::string &name(std::size_t step) const { return members_[step].name; }
  const ModelRunner &runner(std::size_t step) const { return *members_[step].runner; }
  const Wiring &wiring() const { return wiring_; }

  double cutoff() const;    // the largest
  // How far ghosts must reach for models that exchange nothing; 0 when all exchange.
  double wide_reach(double skin) const;

  // Collective, at each reneighbouring. Types of the atoms are the host's, mapped for each model.
  void rebuild(GraphSource &source, double skin);
  void rebuild(const HostAtoms &atoms, const NeighbourList &neighbours, double skin);

  // Collective. Each model runs forward once, producers before consumers, and backward once, in the
  // reverse order: a producer's backward is seeded by what its consumers' energies gain from its
  // outputs (docs/pipelines.md):
  //   F = - sum_m w_m dE_m/dx|_q - sum_m w_m (dE_m/dq) (dq/dx).
  void evaluate(const HostStep &step, const PipelineRequest &request);

  std::vector<std::string> take_warnings();    // of all members, once each, of this rank

  // Of the last evaluation, owned rows. Gradients are of fields that atoms carry. Without a
  // centroid_virial of its own it is node_virial.
  const PotentialOutput &output() const;
  // Fills the arrays of its models' results where there are tensors in their place.
  void fill_arrays();
  // Each step's weighted energy of owned atoms, eV.
  std::span<const double> energies() const { return energies_; }

 private:
  struct Member {
    std::string name;
    std::unique_ptr<ModelRunner> runner;
    std::vector<std::int32_t> types;
    double weight;
    Neutralize neutralize;
    double total_charge;
    std::vector<std::string> wired_outputs;    // that others take
    AtomFields seeds;                          // gradients of the others' energies by them
    bool defers() const { return !wired_outputs.empty(); }
  };

  AtomFields inputs_of(std::size_t step, const HostStep &host);
  void neutralise(const Member &member, AtomField &charges);
  void pass_gradients_on(std::size_t step);
  void warn_of_flux();
  void add_up();
  void add_virials(bool centroid_apart, const PotentialOutput &own, double factor);
  bool adds(const std::string &key) const;

  Communicator &communicator_;
  std::vector<Member> members_;
  Wiring wiring_;
  std::vector<std::string> additive_;
  OtherOutputs others_;
  std::vector<std::string> warnings_;
  bool warned_of_flux_ = false;
  PipelineRequest request_;
  PotentialOutput sum_;
  std::vector<double> energies_;
};

}    // namespace mlip_dd
