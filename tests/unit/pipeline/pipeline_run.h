// Pipelines for tests: their files in a folder of their own, evaluation on virtual ranks from the
// file on, results by atom of the system.
#pragma once

#include <nlohmann/json.hpp>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "pipeline/pipeline.h"
#include "support/virtual_system.h"

namespace mlip_dd::test {

using Json = nlohmann::ordered_json;

struct PipelineResult {
  double energy = 0.0;
  std::array<double, 9> virial{};
  std::vector<double> node_energy, forces, node_virial;
  std::vector<double> step_energies;
  std::map<std::string, std::vector<double>> fields, gradients;
  std::vector<GraphCounts> counts;    // of rank 0, by step
  std::vector<Traffic> traffic;       // of all ranks, by step
  // Numbers that models on a device left in arrays of the host, on all ranks.
  std::int64_t left_on_host = 0;
};

struct PipelineRun {
  int ranks = 1;
  std::vector<int> owners;    // empty: all on rank 0
  PipelineRequest request{
      .node_virial = true, .output_fields = {}, .gradients = {}, .system_outputs = {}};
  std::string halo = "auto";
  bool on_device = false;    // models take graphs as those of a device; see backed_graph.h
};

// Builds graphs for `system`, then evaluates each of `steps` (the same atoms, moved or strained).
std::vector<PipelineResult> run_pipeline(const std::string &spec, const PeriodicSystem &system,
                                         const std::vector<PeriodicSystem> &steps,
                                         const PipelineRun &run = {});
PipelineResult run_pipeline(const std::string &spec, const PeriodicSystem &system,
                            const PipelineRun &run = {});

// Gone with the object.
class PipelineFolder {
 public:
  PipelineFolder();
  ~PipelineFolder();
  PipelineFolder(const PipelineFolder &) = delete;
  PipelineFolder &operator=(const PipelineFolder &) = delete;

  std::string write(const std::string &name, const Json &content) const;    // the file's path

  // A spec object for a scripted forward with these arguments and positional outputs.
  Json scripted_model(const std::string &name, const std::string &source, double cutoff,
                      const std::vector<std::string> &inputs,
                      const std::vector<std::string> &outputs) const;

 private:
  std::string path_;
};

// A spec object for a native potential of Na and Cl.
Json native_model(const std::string &preset, const std::string &potential, double cutoff,
                  const Json &parameters);

// {"pipeline": {"models": models, "groups": [{"steps": steps, "autograd": autograd}]}}
Json pipeline_of(const Json &models, const Json &steps, bool autograd = true);

// Largest deviations of all forces and of the nine components of the virial from fourth-order
// central differences of the energy, over the RMS of what is compared.
struct PipelineDeviations {
  double forces = 0.0;
  double virial = 0.0;
};
PipelineDeviations pipeline_differences(const std::string &spec, const PeriodicSystem &system,
                                        const PipelineResult &claimed);

}    // namespace mlip_dd::test
