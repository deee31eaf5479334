#include "pipeline/pipeline_run.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "comm/thread_communicator.h"
#include "ewald/charged_system.h"
#include "pipeline/backed_graph.h"
#include "pipeline/output_tensors.h"
#include "potentials/runnable_spec.h"
#include "support/script.h"

namespace mlip_dd::test {

namespace {

constexpr double kSkin = 0.4;

void collect(const VirtualRank &view, const AtomField &from, std::size_t atoms,
             std::vector<double> &to)
{
  const auto width = static_cast<std::size_t>(from.width);
  for (std::int64_t row = 0; row < view.n_owned(); ++row)
    for (std::size_t c = 0; c < width; ++c) {
      const auto r = static_cast<std::size_t>(row), g = static_cast<std::size_t>(view.global(row));
      if (g < atoms) to[width * g + c] = from.values[width * r + c];
    }
}

std::int64_t left_on_host(const Pipeline &pipeline)
{
  std::size_t numbers = 0;
  for (std::size_t k = 0; k < pipeline.size(); ++k) {
    const PotentialOutput &output = pipeline.runner(k).output();
    if (!output.tensors) continue;
    numbers += output.node_energy.size() + output.forces.size() + output.node_virial.size();
    for (const AtomFields *fields : {&output.fields, &output.gradients})
      for (const auto &[name, field] : *fields) numbers += field.values.size();
  }
  return static_cast<std::int64_t>(numbers);
}

// What models on the host and on a device gave, as arrays.
PotentialOutput arrays_of(const PotentialOutput &output)
{
  PotentialOutput all = output;
  copy_to_arrays(all);
  if (!output.tensors) return all;
  for (auto which :
       {&PotentialOutput::node_energy, &PotentialOutput::forces, &PotentialOutput::node_virial}) {
    std::vector<double> &sum = all.*which;
    const std::vector<double> &host = output.*which;
    sum.resize(std::max(sum.size(), host.size()), 0.0);
    for (std::size_t k = 0; k < host.size(); ++k) sum[k] += host[k];
  }
  return all;
}

}    // namespace

std::vector<PipelineResult> run_pipeline(const std::string &path, const PeriodicSystem &system,
                                         const std::vector<PeriodicSystem> &steps,
                                         const PipelineRun &run)
{
  const auto n = static_cast<std::size_t>(system.size());
  const std::vector<int> owners = run.owners.empty() ? std::vector<int>(n, 0) : run.owners;
  PipelineResult empty;
  empty.node_energy.assign(n, 0.0);
  empty.forces.assign(3 * n, 0.0);
  empty.node_virial.assign(9 * n, 0.0);
  for (const std::string &name : run.request.output_fields) empty.fields[name].assign(n, 0.0);
  for (const std::string &name : run.request.gradients) empty.gradients[name].assign(n, 0.0);
  std::vector<PipelineResult> results(steps.size(), empty);
  run_virtual_ranks(run.ranks, [&](Communicator &communicator) {
    RunnableSpec spec(path);
    spec.realise(run.halo, run.ranks);
    const auto pipeline = spec.make({"cpu", 1}, communicator, 0);
    const double reach = std::max(pipeline->cutoff() + kSkin, pipeline->wide_reach(kSkin));
    VirtualRank view(system, owners, communicator.rank(), reach + kSkin);
    BackedSource backed(view);
    if (run.on_device)
      pipeline->rebuild(backed, kSkin);
    else
      pipeline->rebuild(view.atoms(), view.neighbours(), kSkin);
    for (std::size_t s = 0; s < steps.size(); ++s) {
      PipelineResult &result = results[s];
      view.move(steps[s]);
      pipeline->evaluate(view.step(), run.request);
      const PotentialOutput output = arrays_of(pipeline->output());
      collect(view, {1, output.node_energy}, n, result.node_energy);
      collect(view, {3, output.forces}, n, result.forces);
      if (run.request.node_virial) collect(view, {9, output.node_virial}, n, result.node_virial);
      for (auto &[name, values] : result.fields) collect(view, output.fields.at(name), n, values);
      for (auto &[name, values] : result.gradients)
        if (output.gradients.contains(name)) collect(view, output.gradients.at(name), n, values);
      std::vector<double> sums{output.energy};
      sums.insert(sums.end(), output.virial.begin(), output.virial.end());
      sums.insert(sums.end(), pipeline->energies().begin(), pipeline->energies().end());
      communicator.sum(sums);
      std::vector<std::int64_t> counters{left_on_host(*pipeline)};
      for (std::size_t k = 0; k < pipeline->size(); ++k) {
        const Traffic traffic = pipeline->runner(k).traffic();
        counters.insert(counters.end(), {traffic.gathers, traffic.scatters, traffic.bytes_sent});
      }
      communicator.sum(counters);
      if (communicator.rank() != 0) continue;
      result.left_on_host = counters[0];
      result.energy = sums[0];
      std::copy_n(sums.begin() + 1, 9, result.virial.begin());
      result.step_energies.assign(sums.begin() + 10, sums.end());
      for (std::size_t k = 0; k < pipeline->size(); ++k) {
        result.counts.push_back(pipeline->runner(k).counts());
        Traffic traffic;
        traffic.gathers = counters[3 * k + 1];
        traffic.scatters = counters[3 * k + 2];
        traffic.bytes_sent = counters[3 * k + 3];
        result.traffic.push_back(traffic);
      }
    }
  });
  return results;
}

PipelineResult run_pipeline(const std::string &path, const PeriodicSystem &system,
                            const PipelineRun &run)
{
  return run_pipeline(path, system, std::vector<PeriodicSystem>{system}, run).front();
}

PipelineFolder::PipelineFolder()
{
  static std::atomic<int> count = 0;
  path_ = (std::filesystem::temp_directory_path() /
           ("mlip_dd_pipeline_" + std::to_string(getpid()) + "_" + std::to_string(count++)))
              .string();
  std::filesystem::create_directory(path_);
}

PipelineFolder::~PipelineFolder()
{
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string PipelineFolder::write(const std::string &name, const Json &content) const
{
  const std::string file = path_ + "/" + name;
  std::ofstream(file) << content.dump(1);
  return file;
}

Json PipelineFolder::scripted_model(const std::string &name, const std::string &source,
                                    double cutoff, const std::vector<std::string> &inputs,
                                    const std::vector<std::string> &outputs) const
{
  scripted(source, {{"unit", torch::ones({1}, torch::kDouble)}}).save(path_ + "/" + name + ".pt");
  Json model{{"potential", "torchscript"},
             {"file", name + ".pt"},
             {"cutoff", cutoff},
             {"layers", 2},
             {"elements", {"Na", "Cl"}}};
  for (const std::string &input : inputs) model["inputs"][input] = input;
  for (std::size_t k = 0; k < outputs.size(); ++k) model["outputs"][outputs[k]] = std::to_string(k);
  return {{"spec", "SPEC_MPNN_HALO"}, {"model", model}};
}

Json native_model(const std::string &preset, const std::string &potential, double cutoff,
                  const Json &parameters)
{
  return {{"spec", preset},
          {"model",
           {{"potential", potential},
            {"elements", {"Na", "Cl"}},
            {"cutoff", cutoff},
            {"parameters", parameters}}}};
}

Json pipeline_of(const Json &models, const Json &steps, bool autograd)
{
  const Json group{{"steps", steps}, {"autograd", autograd}};
  return {{"pipeline", {{"models", models}, {"groups", Json::array({group})}}}};
}

PipelineDeviations pipeline_differences(const std::string &spec, const PeriodicSystem &system,
                                        const PipelineResult &claimed)
{
  constexpr double kDisplacement = 2e-3, kStrain = 5e-4;
  constexpr double kSteps[] = {-2.0, -1.0, 1.0, 2.0};
  const std::size_t coordinates = system.positions.size();
  std::vector<PeriodicSystem> steps;
  for (std::size_t c = 0; c < coordinates; ++c)
    for (const double step : kSteps) {
      steps.push_back(system);
      steps.back().positions[c] += step * kDisplacement;
    }
  for (std::size_t c = 0; c < 9; ++c)
    for (const double step : kSteps) {
      std::array<double, 9> strain{};
      strain[c] = step * kStrain;
      steps.push_back(strained(system, strain));
    }
  PipelineRun run;
  run.request.node_virial = false;
  const std::vector<PipelineResult> results = run_pipeline(spec, system, steps, run);
  std::size_t place = 0;
  const auto derivative = [&](double step) {
    const PipelineResult *at = &results[4 * place++];
    return (at[0].energy - 8.0 * at[1].energy + 8.0 * at[2].energy - at[3].energy) / (12.0 * step);
  };
  std::vector<double> forces(coordinates), virial(9);
  for (double &force : forces) force = -derivative(kDisplacement);
  for (double &component : virial) component = -derivative(kStrain);
  const std::vector<double> found(claimed.virial.begin(), claimed.virial.end());
  return {largest_difference(forces, claimed.forces) / root_mean_square(forces),
          largest_difference(virial, found) / root_mean_square(virial)};
}

}    // namespace mlip_dd::test
