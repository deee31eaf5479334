#include "pair/native_run.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <stdexcept>

#include "catch.h"
#include "comm/thread_communicator.h"
#include "pipeline/backed_graph.h"
#include "pipeline/model_runner.h"
#include "potentials/make_potential.h"
#include "spec/elements.h"

namespace mlip_dd::test {

namespace {

constexpr double kMoved = 0.08;         // along each axis; within half the skin in any direction
constexpr double kMovedForce = 1e-3;    // forces of the moved atoms are others, relative
constexpr double kBeyondReach = 0.5;    // ghosts a little further than pairs are looked for

PeriodicSystem displaced(PeriodicSystem system, std::mt19937_64 &random)
{
  std::uniform_real_distribution<double> small(-kMoved, kMoved);
  for (double &x : system.positions) x += small(random);
  return system;
}

template <class Values>
double largest_gap(const Values &a, const Values &b)
{
  REQUIRE(a.size() == b.size());
  double largest = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    const double gap = std::abs(a[k] - b[k]);
    largest = gap <= largest ? largest : gap;    // a gap that is no number stays
  }
  return largest;
}

template <class Values>
double largest_of(const Values &values)
{
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

}    // namespace

NativeResult run_native(const ModelSpec &model, const PeriodicSystem &system,
                        const PeriodicSystem &moved, const NativeRun &run)
{
  const auto n = static_cast<std::size_t>(system.size());
  const std::vector<int> owners = run.owners.empty() ? std::vector<int>(n, 0) : run.owners;
  NativeResult result;
  result.node_energy.assign(n, 0.0);
  result.forces.assign(3 * n, 0.0);
  result.node_virial.assign(9 * n, 0.0);
  run_virtual_ranks(run.ranks, [&](Communicator &communicator) {
    auto potential = make_potential(
        model, {.device = run.device, .threads = run.threads, .lanes = run.lanes}, communicator, 0);
    const double reach = potential->cutoff() + run.skin + kBeyondReach;
    ModelRunner runner(communicator, std::move(potential), {});
    PotentialRequest request;
    request.node_virial = true;
    const auto rebuild = [&](VirtualRank &view) {
      const auto source = run.source ? run.source(view) : nullptr;
      if (source)
        runner.rebuild(*source, {}, run.skin);
      else
        runner.rebuild(view.atoms(), view.neighbours(), run.skin);
      if (source && !runner.graph().device)
        throw std::logic_error("no tensors where they were asked for");
      runner.evaluate(view.step(), request);
    };
    if (run.ranks > 1) {    // what another division of the atoms leaves must not stay
      VirtualRank before(system, next_ranks(owners, run.ranks), communicator.rank(), reach);
      rebuild(before);
    }
    VirtualRank view(system, owners, communicator.rank(), reach);
    rebuild(view);
    view.move(moved);
    runner.evaluate(view.step(), request);    // from what the first prepared
    runner.fill_arrays();
    const PotentialOutput &output = runner.output();
    std::array<double, 10> sums{output.energy};
    std::copy(output.virial.begin(), output.virial.end(), sums.begin() + 1);
    communicator.sum(sums);
    if (communicator.rank() == 0) {
      result.energy = sums[0];
      std::copy(sums.begin() + 1, sums.end(), result.virial.begin());
    }
    for (std::int64_t row = 0; row < view.n_owned(); ++row) {
      const auto r = static_cast<std::size_t>(row), g = static_cast<std::size_t>(view.global(row));
      result.node_energy[g] = output.node_energy[r];
      std::copy_n(&output.forces[3 * r], 3, &result.forces[3 * g]);
      std::copy_n(&output.node_virial[9 * r], 9, &result.node_virial[9 * g]);
    }
  });
  return result;
}

double largest_difference(const std::vector<double> &a, const std::vector<double> &b)
{
  return largest_gap(a, b);
}

double largest_difference(const std::array<double, 9> &a, const std::array<double, 9> &b)
{
  return largest_gap(a, b);
}

void check_same(const NativeResult &found, const NativeResult &expected, double tolerance)
{
  CHECK(std::abs(expected.energy) > 0.0);
  CHECK(std::abs(found.energy - expected.energy) <= tolerance * std::abs(expected.energy));
  CHECK(largest_gap(found.node_energy, expected.node_energy) <=
        tolerance * largest_of(expected.node_energy));
  CHECK(largest_gap(found.virial, expected.virial) <= tolerance * largest_of(expected.virial));
  CHECK(largest_gap(found.node_virial, expected.node_virial) <=
        tolerance * largest_of(expected.node_virial));
  // Forces may cancel to nothing (one atom in a cell): what they are sums of is then the measure.
  const double scale = std::max(largest_of(expected.forces), largest_of(expected.node_virial));
  CHECK(largest_gap(found.forces, expected.forces) <= tolerance * scale);
}

void check_kernels(const ModelSpec &model, const PeriodicSystem &system, double tolerance)
{
  std::mt19937_64 random(run_seed());
  const PeriodicSystem moved = displaced(system, random);
  const NativeResult expected = run_native(model, system, moved);
  REQUIRE(largest_gap(expected.forces, run_native(model, system, system).forces) >
          kMovedForce * largest_of(expected.forces));
  for (const int ranks : {1, 3})
    for (const bool lanes : {false, true})
      for (const bool on_device : {false, true}) {
        CAPTURE(ranks, lanes, on_device);
        NativeRun run;
        run.ranks = ranks;
        run.owners = random_owners(random, system.size(), ranks);
        run.lanes = lanes;
        if (on_device)
          run.source = [](const VirtualRank &view) { return std::make_unique<BackedSource>(view); };
        check_same(run_native(model, system, moved, run), expected, tolerance);
      }
}

void check_decompositions(const ModelSpec &model, const std::vector<Box> &boxes, double apart,
                          const std::vector<int> &rank_counts, double tolerance)
{
  std::mt19937_64 random(run_seed());
  INFO("seed " << run_seed() << ": repeat with --rng-seed");
  for (const Box &box : boxes) {
    const PeriodicSystem system =
        random_system(random, box.atoms, box.cell, static_cast<int>(model.elements.size()), apart);
    const PeriodicSystem moved = displaced(system, random);
    const NativeResult one = run_native(model, system, moved);
    for (const int ranks : rank_counts) {
      INFO(box.atoms << " atoms, " << ranks << " ranks");
      NativeRun run;
      run.ranks = ranks;
      run.owners = random_owners(random, box.atoms, ranks,
                                 ranks > 2 ? std::vector<int>{1} : std::vector<int>{});
      check_same(run_native(model, system, moved, run), one, tolerance);
    }
    NativeRun threaded;
    threaded.threads = 3;
    const NativeResult many = run_native(model, system, moved, threaded);
    CHECK(many.energy == one.energy);
    CHECK(many.forces == one.forces);
  }
}

void check_derivatives(const ModelSpec &model, const PeriodicSystem &system, double error)
{
  constexpr double kStep = 1e-3;
  std::mt19937_64 random(11);
  const std::int64_t n = system.size();
  NativeRun run;
  run.ranks = 3;
  run.owners = random_owners(random, n, 3);
  const NativeResult result = run_native(model, system, system, run);
  // Fourth order: the error is the fifth derivative's, times step^4 / 30.
  const auto derivative = [&](const auto &moved_by) {
    const auto energy = [&](double step) {
      return run_native(model, system, moved_by(step), run).energy;
    };
    return (8.0 * (energy(kStep) - energy(-kStep)) - (energy(2 * kStep) - energy(-2 * kStep))) /
           (12.0 * kStep);
  };
  double force = 0.0, moment = 0.0;
  for (const double value : result.forces) force = std::max(force, std::abs(value));
  for (const double value : result.virial) moment = std::max(moment, std::abs(value));
  REQUIRE(force > 1e-3);
  REQUIRE(moment > 1e-3);
  // Relative to the largest; where that is large, to 1 eV/Angstrom and 10 eV.
  force = std::min(force, 1.0);
  moment = std::min(moment, 10.0);
  for (const std::int64_t k : {std::int64_t{0}, n, 2 * n - 1, 3 * n - 1}) {
    INFO("coordinate " << k);
    const auto moved_by = [&](double step) {
      PeriodicSystem moved = system;
      moved.positions[static_cast<std::size_t>(k)] += step;
      return moved;
    };
    CHECK(std::abs(result.forces[static_cast<std::size_t>(k)] + derivative(moved_by)) <
          error * force);
  }
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a; b < 3; ++b) {
      INFO("strain " << a << b);
      const auto strained = [&](double strain) {
        PeriodicSystem moved = system;
        const auto stretch = [&](std::vector<double> &to, const auto &from, std::size_t count) {
          for (std::size_t i = 0; i < count; ++i) to[3 * i + b] += 0.1 * strain * from[3 * i + a];
        };
        stretch(moved.positions, system.positions, static_cast<std::size_t>(n));
        for (std::size_t v = 0; v < 3; ++v)
          moved.cell.vectors[3 * v + b] += 0.1 * strain * system.cell.vectors[3 * v + a];
        return moved;
      };
      CHECK(std::abs(result.virial[3 * a + b] + 10.0 * derivative(strained)) < error * moment);
    }
}

std::vector<double> flat(const nlohmann::json &numbers)
{
  if (!numbers.is_array()) return {numbers.get<double>()};
  std::vector<double> values;
  for (const nlohmann::json &entry : numbers) {
    const std::vector<double> inner = flat(entry);
    values.insert(values.end(), inner.begin(), inner.end());
  }
  return values;
}

std::string golden_path(const std::string &name)
{
  return std::string(MLIP_DD_SOURCE_DIR) + "/tests/golden/numeric/" + name;
}

Golden read_golden(const std::string &name)
{
  std::ifstream stream(golden_path(name));
  REQUIRE(stream);
  Golden golden;
  golden.tree = nlohmann::json::parse(stream);
  golden.system.positions = flat(golden.tree.at("positions"));
  const std::vector<double> cell = flat(golden.tree.at("cell"));
  std::copy(cell.begin(), cell.end(), golden.system.cell.vectors.begin());
  for (const int number : golden.tree.at("atomic_numbers").get<std::vector<int>>()) {
    const std::string symbol(element_symbols()[static_cast<std::size_t>(number - 1)]);
    const auto found = std::find(golden.elements.begin(), golden.elements.end(), symbol);
    golden.system.types.push_back(static_cast<std::int32_t>(found - golden.elements.begin()));
    if (found == golden.elements.end()) golden.elements.push_back(symbol);
  }
  return golden;
}

}    // namespace mlip_dd::test
