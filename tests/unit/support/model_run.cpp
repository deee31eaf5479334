#include "support/model_run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <utility>

#include "comm/thread_communicator.h"
#include "pipeline/model_runner.h"
#include "potentials/make_potential.h"
#include "spec/families.h"

namespace mlip_dd::test {

ModelResult run_model(const ModelSpec &model, const PeriodicSystem &system,
                      const PeriodicSystem &moved, const ModelRun &run)
{
  const auto n = static_cast<std::size_t>(system.size());
  ModelResult result;
  result.node_energy.assign(n, 0.0);
  result.forces.assign(3 * n, 0.0);
  result.node_virial.assign(9 * n, 0.0);
  std::mutex growing;    // of the result's maps
  const std::string charges(kChargesField);
  const bool charged = model.inputs.contains(charges);
  if (charged) result.charge_gradient.assign(n, 0.0);
  run_virtual_ranks(run.ranks, [&](Communicator &virtual_rank) {
    const std::unique_ptr<Communicator> wrapped = run.wrap ? run.wrap(virtual_rank) : nullptr;
    Communicator &communicator = wrapped ? *wrapped : virtual_rank;
    const int held = run.mode == HaloMode::wide ? std::max(1, model.layers.value_or(1)) : 1;
    VirtualRank view(system, run.owners, communicator.rank(),
                     held * (*model.cutoff + run.skin) + 0.5);
    ModelRunner runner(communicator, make_potential(model, run.options, communicator, 0),
                       {run.mode, held, "", run.every_atom});
    const NeighbourList neighbours = view.neighbours();
    runner.rebuild(view.atoms(), neighbours, run.skin);
    view.move(moved);
    PotentialRequest request;
    request.node_virial = run.node_virial;
    request.node_energy = run.node_energy;
    request.output_fields = run.fields;
    request.system_outputs = run.systems;
    if (charged) request.gradients = {charges};
    for (int k = 0; k < run.evaluations; ++k) {
      AtomFields fields;
      if (charged) fields = owned_host_fields(runner.graph(), view.step(), {charges}, "test");
      runner.evaluate(view.step(), request, fields);
    }
    const PotentialOutput &output = runner.output();
    std::array<double, 10> sums{output.energy};
    std::copy(output.virial.begin(), output.virial.end(), sums.begin() + 1);
    virtual_rank.sum(sums);
    if (communicator.rank() == 0) {
      result.energy = sums[0];
      std::copy(sums.begin() + 1, sums.end(), result.virial.begin());
      result.traffic = runner.traffic();
      result.model_traffic = runner.potential().traffic();
      result.counts = runner.counts();
      result.systems = output.systems;
    }
    {
      const std::lock_guard lock(growing);
      if (auto warnings = runner.take_warnings(); result.warnings.empty())
        result.warnings = std::move(warnings);
      for (const auto &[name, field] : output.fields)
        if (!field.values.empty())
          result.fields[name].resize(n * static_cast<std::size_t>(field.width));
    }
    // Different ranks write different rows.
    for (std::int64_t row = 0; row < view.n_owned(); ++row) {
      const auto r = static_cast<std::size_t>(row), g = static_cast<std::size_t>(view.global(row));
      result.node_energy[g] = output.node_energy[r];
      std::copy_n(&output.forces[3 * r], 3, &result.forces[3 * g]);
      if (run.node_virial) std::copy_n(&output.node_virial[9 * r], 9, &result.node_virial[9 * g]);
      for (const auto &[name, field] : output.fields) {
        const auto width = static_cast<std::size_t>(field.width);
        std::copy_n(&field.values[width * r], width, &result.fields.at(name)[width * g]);
      }
      if (charged) result.charge_gradient[g] = output.gradients.at(charges).values[r];
    }
  });
  return result;
}

ModelRun dense_run(const PeriodicSystem &system)
{
  ModelRun run;
  run.owners.assign(static_cast<std::size_t>(system.size()), 0);
  return run;
}

TemporaryFile::TemporaryFile(const std::string &suffix)
{
  static std::atomic<int> count = 0;
  path_ = (std::filesystem::temp_directory_path() /
           ("mlip_dd_" + std::to_string(getpid()) + "_" + std::to_string(count++) + suffix))
              .string();
}

TemporaryFile::~TemporaryFile()
{
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

ModelSpec generic_model(const std::string &file, double cutoff, int layers,
                        const std::vector<std::string> &inputs)
{
  ModelSpec model;
  model.potential = "torchscript";
  model.family = "generic";
  model.file = file;
  model.cutoff = cutoff;
  model.layers = layers;
  model.elements = {"Na", "Cl"};
  for (const std::string &role : inputs) model.inputs[role] = role;
  model.outputs["node_energy"] = "node_energy";
  return model;
}

}    // namespace mlip_dd::test
