#include "ewald/charged_system.h"

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "comm/thread_communicator.h"
#include "graph/device_graph.h"
#include "pipeline/backed_graph.h"
#include "pipeline/field_rows.h"
#include "pipeline/model_runner.h"
#include "potentials/make_potential.h"

namespace mlip_dd::test {

namespace {

constexpr double kSkin = 0.5;

// Rank by rank into the order of the system; ranks write to places of their own.
void collect(const VirtualRank &view, const PotentialOutput &output, ChargedResult &result)
{
  for (std::int64_t row = 0; row < view.n_owned(); ++row) {
    const auto from = static_cast<std::size_t>(row);
    const auto to = static_cast<std::size_t>(view.global(row));
    result.node_energy[to] = output.node_energy[from];
    if (const auto gradient = output.gradients.find("charges"); gradient != output.gradients.end())
      result.charge_gradient[to] = gradient->second.values[from];
    for (std::size_t c = 0; c < 3; ++c) result.forces[3 * to + c] = output.forces[3 * from + c];
    for (std::size_t c = 0; c < 9; ++c)
      result.node_virial[9 * to + c] = output.node_virial[9 * from + c];
  }
}

// Fourth-order central difference from values at -2, -1, 1, 2 steps.
double derivative(const std::vector<double> &energies, std::size_t first, double step)
{
  return (energies[first] - 8.0 * energies[first + 1] + 8.0 * energies[first + 2] -
          energies[first + 3]) /
         (12.0 * step);
}

constexpr double kSteps[] = {-2.0, -1.0, 1.0, 2.0};

}    // namespace

std::vector<ChargedResult> evaluate_steps(const ModelSpec &model, const PeriodicSystem &system,
                                          const std::vector<PeriodicSystem> &steps, int ranks,
                                          const std::vector<int> &owners, int threads,
                                          const Way &way)
{
  const auto n = static_cast<std::size_t>(system.size());
  ChargedResult empty;
  empty.node_energy.assign(n, 0.0);
  empty.forces.assign(3 * n, 0.0);
  empty.node_virial.assign(9 * n, 0.0);
  empty.charge_gradient.assign(n, 0.0);
  std::vector<ChargedResult> results(steps.size(), empty);
  run_virtual_ranks(ranks, [&](Communicator &communicator) {
    auto potential = make_potential(
        model, {.device = "cpu", .threads = threads, .lanes = way.lanes}, communicator, 0);
    const double reach = potential->cutoff() + 2.0 * kSkin;
    ModelRunner runner(communicator, std::move(potential), {});
    PotentialRequest request;
    request.node_virial = true;
    request.gradients = runner.potential().input_fields();
    const auto rebuild = [&](VirtualRank &view) {
      BackedSource tensors(view);
      if (way.device_graph)
        runner.rebuild(tensors, {}, kSkin);
      else
        runner.rebuild(view.atoms(), view.neighbours(), kSkin);
      if (way.device_graph && !runner.graph().device)
        throw std::logic_error("no tensors where they were asked for");
    };
    const auto evaluate = [&](const VirtualRank &view) {
      const DeviceGraph *graph = runner.graph().device.get();
      const HostStep step = view.step();
      const std::vector<std::string> &names = request.gradients;
      runner.evaluate(step, request,
                      graph ? owned_device_fields(*graph, names, model.potential)
                            : owned_host_fields(runner.graph(), step, names, model.potential));
    };
    VirtualRank view(system, owners, communicator.rank(), reach);
    if (ranks > 1) {    // what another division of the atoms leaves must not stay
      VirtualRank before(system, next_ranks(owners, ranks), communicator.rank(), reach);
      rebuild(before);
      evaluate(before);
    }
    rebuild(view);
    for (std::size_t s = 0; s < steps.size(); ++s) {
      view.move(steps[s]);
      evaluate(view);
      runner.fill_arrays();
      const PotentialOutput &output = runner.output();
      collect(view, output, results[s]);
      std::array<double, 10> sums{output.energy};
      std::copy(output.virial.begin(), output.virial.end(), sums.begin() + 1);
      communicator.sum(sums);
      if (communicator.rank() != 0) continue;
      results[s].energy = sums[0];
      std::copy(sums.begin() + 1, sums.end(), results[s].virial.begin());
      results[s].description = runner.potential().description();
    }
  });
  return results;
}

ChargedResult evaluate_one(const ModelSpec &model, const PeriodicSystem &system, const Way &way)
{
  const std::vector<int> owners(static_cast<std::size_t>(system.size()), 0);
  return evaluate_steps(model, system, {system}, 1, owners, 1, way).front();
}

ChargedResult evaluate_on(int ranks, const ModelSpec &model, const PeriodicSystem &system,
                          const Way &way)
{
  std::mt19937_64 random(17);
  const std::vector<int> owners = random_owners(random, system.size(), ranks);
  return evaluate_steps(model, system, {system}, ranks, owners, 1, way).front();
}

ModelSpec charged_model(const std::string &potential, double cutoff,
                        const nlohmann::json &parameters)
{
  ModelSpec model;
  model.potential = potential;
  model.cutoff = cutoff;
  model.elements = {"Na", "Cl"};
  model.parameters = parameters;
  return model;
}

PeriodicSystem random_charges(unsigned seed, std::int64_t n, const Cell &cell, double net)
{
  constexpr double kClosest = 1.6;
  std::mt19937_64 random(seed);
  PeriodicSystem system = random_system(random, n, cell, 2, kClosest);
  for (std::int64_t i = 0; i < n; ++i) {
    system.types[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % 2);
    system.charges.push_back((i % 2 == 0 ? 1.0 : -1.0) + net);
  }
  return system;
}

PeriodicSystem crystal(const Cell &cell, const std::vector<std::array<double, 3>> &sites,
                       const std::vector<double> &charges)
{
  PeriodicSystem system;
  system.cell = cell;
  system.charges = charges;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    system.types.push_back(charges[i] > 0.0 ? 0 : 1);
    for (std::size_t b = 0; b < 3; ++b) {
      double x = cell.origin[b];
      for (std::size_t a = 0; a < 3; ++a) x += sites[i][a] * cell.vectors[3 * a + b];
      system.positions.push_back(x);
    }
  }
  return system;
}

PeriodicSystem strained(const PeriodicSystem &system, const std::array<double, 9> &strain)
{
  PeriodicSystem result = system;
  const auto apply = [&strain](double *vector) {
    const double v[3] = {vector[0], vector[1], vector[2]};
    for (std::size_t b = 0; b < 3; ++b)
      for (std::size_t a = 0; a < 3; ++a) vector[b] += v[a] * strain[3 * a + b];
  };
  for (std::size_t i = 0; i < result.positions.size(); i += 3) apply(&result.positions[i]);
  for (std::size_t a = 0; a < 9; a += 3) apply(&result.cell.vectors[a]);
  apply(result.cell.origin.data());
  return result;
}

nlohmann::json golden_numbers(const std::string &name)
{
  const std::string path = std::string(MLIP_DD_SOURCE_DIR) + "/tests/golden/numeric/" + name;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return nlohmann::json::parse(file);
}

std::vector<double> flat(const nlohmann::json &nested)
{
  std::vector<double> values;
  for (const auto &item : nested) {
    if (!item.is_array()) {
      values.push_back(item.get<double>());
      continue;
    }
    const std::vector<double> part = flat(item);
    values.insert(values.end(), part.begin(), part.end());
  }
  return values;
}

PeriodicSystem golden_system(const nlohmann::json &golden)
{
  PeriodicSystem system;
  const std::vector<double> cell = flat(golden.at("cell"));
  std::copy(cell.begin(), cell.end(), system.cell.vectors.begin());
  system.positions = flat(golden.at("positions"));
  system.charges = flat(golden.at("charges"));
  for (const auto &number : golden.at("atomic_numbers"))
    system.types.push_back(number.get<int>() == 11 ? 0 : 1);
  return system;
}

double largest_difference(const std::vector<double> &a, const std::vector<double> &b)
{
  if (a.size() != b.size()) return INFINITY;
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double gap = std::abs(a[i] - b[i]);
    largest = gap <= largest ? largest : gap;    // a gap that is no number stays
  }
  return largest;
}

double root_mean_square(const std::vector<double> &values)
{
  double total = 0.0;
  for (const double value : values) total += value * value;
  return std::sqrt(total / static_cast<double>(std::max<std::size_t>(values.size(), 1)));
}

Deviations finite_differences(const ModelSpec &model, const PeriodicSystem &system, const Way &way)
{
  constexpr double kDisplacement = 2e-3, kStrain = 5e-4, kCharge = 1e-2;
  const auto n = static_cast<std::size_t>(system.size());
  std::vector<PeriodicSystem> steps{system};
  for (std::size_t c = 0; c < 3 * n; ++c)
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
  for (std::size_t i = 0; i < n; ++i)
    for (const double step : kSteps) {
      steps.push_back(system);
      steps.back().charges[i] += step * kCharge;
    }
  const auto results = evaluate_steps(model, system, steps, 1, std::vector<int>(n, 0), 1, way);
  std::vector<double> energies;
  for (std::size_t s = 1; s < results.size(); ++s) energies.push_back(results[s].energy);

  const ChargedResult &at_rest = results.front();
  std::vector<double> forces(3 * n), virial(9), gradient(n);
  std::size_t place = 0;
  for (double &force : forces) force = -derivative(energies, 4 * place++, kDisplacement);
  for (double &component : virial) component = -derivative(energies, 4 * place++, kStrain);
  for (double &value : gradient) value = derivative(energies, 4 * place++, kCharge);
  const std::vector<double> found(at_rest.virial.begin(), at_rest.virial.end());
  return {largest_difference(forces, at_rest.forces) / root_mean_square(forces),
          largest_difference(virial, found) / root_mean_square(virial),
          largest_difference(gradient, at_rest.charge_gradient) / root_mean_square(gradient)};
}

}    // namespace mlip_dd::test
