// A whole model on virtual ranks, from its file to forces at home, collected by atom of the system.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/model_runner.h"
#include "pipeline/potential.h"
#include "spec/model_spec.h"
#include "support/virtual_system.h"

namespace mlip_dd::test {

struct ModelResult {
  double energy = 0.0;
  std::array<double, 9> virial{};
  std::vector<double> node_energy, forces, node_virial;    // by atom of the system
  std::map<std::string, std::vector<double>> fields;       // likewise
  SystemValues systems;                                    // of the first rank
  std::vector<std::string> warnings;                       // of the first that has any
  std::vector<double> charge_gradient;    // the same; of a model that takes charges
  Traffic traffic;                        // of the first rank
  Traffic model_traffic;                  // the same, without what goes home
  GraphCounts counts;                     // of the first rank
};

struct ModelRun {
  std::vector<int> owners;
  int ranks = 1;
  HaloMode mode = HaloMode::exchange;
  double skin = 0.4;
  int evaluations = 1;
  bool node_virial = true;
  PotentialOptions options{"cpu", 1};
  std::vector<std::string> fields = {}, systems = {};    // outputs to ask for
  bool node_energy = false;
  bool every_atom = false;    // halo rows are all other atoms
  // What the model sees of each rank's communicator, for tests that tamper with it.
  std::function<std::unique_ptr<Communicator>(Communicator &)> wrap = nullptr;
};

// Builds graphs for `system`, moves the atoms to `moved`, and evaluates.
ModelResult run_model(const ModelSpec &model, const PeriodicSystem &system,
                      const PeriodicSystem &moved, const ModelRun &run);

// All atoms on one rank.
ModelRun dense_run(const PeriodicSystem &system);

// The largest of the absolute differences.
template <class A, class B>
double difference(const A &a, const B &b)
{
  double largest = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

// A file in the temporary folder, for as long as the object lives.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string &suffix);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;
  const std::string &path() const { return path_; }

 private:
  std::string path_;
};

// A `generic` torchscript model in `file` that takes `inputs` by our names and returns node_energy.
ModelSpec generic_model(const std::string &file, double cutoff, int layers,
                        const std::vector<std::string> &inputs);

}    // namespace mlip_dd::test
