#include "property/random_case.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <sstream>
#include <tuple>

#include "comm/thread_communicator.h"
#include "graph/build.h"
#include "graph/edge_shifts.h"
#include "halo/halo_exchange.h"
#include "halo/row_arrays.h"
#include "spec/names.h"
#include "spec/spec_file.h"
#include "support/model_run.h"

namespace mlip_dd::test {

namespace {

constexpr int kMostAtoms = 300;
constexpr int kMostRanks = 27;
// Brute force over all images of a wide halo stays quick below this many.
constexpr double kMostImages = 4000.0;

using Random = std::mt19937_64;

int below(Random &random, int count)
{
  return static_cast<int>(random() % static_cast<unsigned>(count));
}

double between(Random &random, double low, double high)
{
  return std::uniform_real_distribution<double>(low, high)(random);
}

// As many of one as of a hundred.
std::int64_t draw_size(Random &random)
{
  return static_cast<std::int64_t>(std::exp(between(random, 0.0, std::log(kMostAtoms + 1.0))));
}

Cell draw_cell(Random &random, double volume)
{
  const double a = between(random, 0.6, 1.6), b = between(random, 0.6, 1.6);
  const double edge = std::cbrt(volume / (a * b));
  const double tilt = below(random, 2) ? between(random, -0.45, 0.45) : 0.0;
  Cell cell = tilted_cell(a * edge, b * edge, edge, tilt);
  for (bool &periodic : cell.periodic) periodic = below(random, 3) != 0;
  for (double &origin : cell.origin) origin = between(random, -5.0, 5.0);
  return cell;
}

// Room for an atom is 9 A^3 or more, and none is nearer than 1 A to another: boxes of few atoms are
// smaller than the cutoff.
PeriodicSystem draw_system(Random &random)
{
  const std::int64_t n = draw_size(random);
  const double room = between(random, 9.0, 16.0);
  PeriodicSystem system =
      random_system(random, n, draw_cell(random, room * static_cast<double>(n)), 2, 1.0);
  if (below(random, 4) == 0)
    // A cluster in a wide vacuum.
    for (std::size_t k = 0; k < 9; ++k) system.cell.vectors[k] *= 4.0;
  for (std::int64_t i = 0; i < n; ++i) system.charges.push_back(between(random, -1.0, 1.0));
  return system;
}

PeriodicSystem later(PeriodicSystem system, Random &random)
{
  for (double &position : system.positions)
    position = 1.01 * position + between(random, -0.03, 0.03);
  for (double &length : system.cell.vectors) length *= 1.01;
  for (double &origin : system.cell.origin) origin *= 1.01;
  return system;
}

std::vector<int> draw_owners(Random &random, const PeriodicSystem &system, int ranks)
{
  const std::int64_t n = system.size();
  std::vector<int> owners(static_cast<std::size_t>(n));
  switch (below(random, 4)) {
    case 0:    // slabs, as a host would cut
      for (std::size_t i = 0; i < owners.size(); ++i) {
        const double x = system.positions[3 * i] - system.cell.origin[0];
        const double slab = std::floor(x / system.cell.vectors[0] * ranks);
        owners[i] = static_cast<int>(std::clamp(slab, 0.0, ranks - 1.0));
      }
      return owners;
    case 1:    // blocks by index, the last rank with the rest
      for (std::size_t i = 0; i < owners.size(); ++i)
        owners[i] = static_cast<int>(std::min<std::int64_t>(
            static_cast<std::int64_t>(i) / std::max<std::int64_t>(n / ranks, 1), ranks - 1));
      return owners;
    default: {
      std::vector<int> empty;
      for (int rank = 1; rank < ranks; ++rank)
        if (below(random, 4) == 0) empty.push_back(rank);
      return random_owners(random, n, ranks, empty);
    }
  }
}

// Images within the reach of a wide halo, roughly.
double images_within(const RandomCase &drawn, int layers)
{
  const auto &h = drawn.system.cell.vectors;
  const double volume = std::abs(h[0] * h[4] * h[8]);
  const double reach = 2.0 * (layers * (drawn.cutoff + drawn.skin) + 0.5);
  double box = 1.0;
  for (std::size_t a = 0; a < 3; ++a)
    box *= drawn.system.cell.periodic[a] ? h[4 * a] + reach : h[4 * a];
  return static_cast<double>(drawn.system.size()) * box / volume;
}

struct Way {
  StoragePolicy policy;
  const char *halo;
};

Way draw_way(Random &random, bool wide)
{
  const std::array<StoragePolicy, 4> halo_policies{
      halo_policy(), halo_policy(ScatterMode::Local),
      halo_policy(ScatterMode::HaloCorrection, GatherMode::Local), refresh_halo_policy()};
  const StoragePolicy policy = halo_policies[static_cast<std::size_t>(below(random, 4))];
  switch (below(random, wide ? 8 : 6)) {
    case 0:
      return {shard_policy(), "auto"};
    case 1:
      return {graph_parallel_policy(), "auto"};
    case 2:
      return {graph_parallel_policy(), "padded"};
    case 3:
      return {policy, "padded"};
    case 4:
      return {policy, "all"};
    case 6:
      return {local_policy(), "auto"};
    case 7:
      return {policy, "wide"};
    default:
      return {policy, "auto"};
  }
}

bool replicates_geometry(const RandomCase &drawn) { return drawn.seed % 2 == 0; }

SpecFile spec_of(const RandomCase &drawn, ModelSpec model)
{
  SpecFile file;
  file.path = "the drawn case";
  file.spec.distribution.policy = drawn.policy;
  file.spec.distribution.custom_ops = adapters_of(drawn.toy);
  file.spec.gp_replicate_geometry = replicates_geometry(drawn);
  file.model = std::move(model);
  return file;
}

// What the way of holding rows, or of differentiating, rules out.
void make_runnable(RandomCase &drawn)
{
  Toy &toy = drawn.toy;
  const bool wide = drawn.halo == "wide" || drawn.policy.kind == PolicyKind::Local;
  if (wide) {
    toy.sends_back = toy.custom_operator = false;
    if (toy.form == ToyForm::forces_inside && toy.depth > 1) toy.form = ToyForm::positions;
  }
  const bool holds_halo_rows =
      wide || drawn.halo == "padded" ||
      (drawn.policy.kind == PolicyKind::GraphParallel && replicates_geometry(drawn));
  if (holds_halo_rows && toy.form == ToyForm::forces_inside)
    toy.custom_operator = toy.system_sums = false;
}

std::string describe(const RandomCase &drawn)
{
  std::ostringstream text;
  const Cell &cell = drawn.system.cell;
  text << "seed " << drawn.seed << ": " << drawn.system.size() << " atoms in";
  for (std::size_t a = 0; a < 3; ++a)
    text << " " << cell.vectors[4 * a] << (cell.periodic[a] ? "" : " (open)");
  text << " A, tilts " << cell.vectors[3] << " " << cell.vectors[6] << " " << cell.vectors[7]
       << ", cutoff " << drawn.cutoff << "; " << drawn.ranks << " ranks; policy "
       << to_name(drawn.policy.kind) << ", halo " << drawn.halo << ": " << drawn.realisation.text
       << "; " << describe(drawn.toy);
  return text.str();
}

template <class Values>
void compare(Deviation &deviation, const char *what, const Values &found, const Values &expected)
{
  double scale = 1.0;
  for (const double value : expected) scale = std::max(scale, 1.0 + std::abs(value));
  const double relative = difference(found, expected) / scale;
  // Also where it is not a number.
  if (!(relative <= deviation.largest)) {
    deviation.largest = std::isnan(relative) ? HUGE_VAL : relative;
    deviation.where = what;
  }
}

// Receiver, sender (by system atom) and lattice shift.
using Edge = std::tuple<std::int64_t, std::int64_t, int, int, int>;

std::map<Edge, int> edges_by_brute_force(const PeriodicSystem &system, double cutoff)
{
  std::map<Edge, int> edges;
  const auto &h = system.cell.vectors;
  for (const auto &[i, j, k] : translations(system.cell, cutoff))
    for (std::int64_t a = 0; a < system.size(); ++a)
      for (std::int64_t b = 0; b < system.size(); ++b) {
        double squared = 0.0;
        for (std::size_t c = 0; c < 3; ++c) {
          const double r = system.positions[3 * static_cast<std::size_t>(b) + c] + i * h[c] +
                           j * h[3 + c] + k * h[6 + c] -
                           system.positions[3 * static_cast<std::size_t>(a) + c];
          squared += r * r;
        }
        if (squared < cutoff * cutoff && (a != b || i != 0 || j != 0 || k != 0))
          edges[{a, b, i, j, k}] = 1;
      }
  return edges;
}

}    // namespace

RandomCase draw_case(std::uint64_t seed)
{
  Random random(seed);
  RandomCase drawn;
  drawn.seed = seed;
  drawn.system = draw_system(random);
  drawn.cutoff = between(random, 1.6, 3.4);
  drawn.moved = later(drawn.system, random);
  drawn.ranks = 1 + below(random, below(random, 3) ? 8 : kMostRanks);
  drawn.owners = draw_owners(random, drawn.system, drawn.ranks);
  drawn.toy = draw_toy(random);
  const bool wide_is_quick = images_within(drawn, drawn.toy.depth) < kMostImages;
  const Way way = draw_way(random, wide_is_quick);
  drawn.policy = way.policy;
  drawn.halo = way.halo;
  make_runnable(drawn);
  const TemporaryFile file(".pt");
  drawn.realisation = choose_realisation(
      spec_of(drawn, write_toy(drawn.toy, drawn.cutoff, file.path())), drawn.halo, drawn.ranks);
  drawn.text = describe(drawn);
  return drawn;
}

Deviation deviation_of(const RandomCase &drawn, const Tampering &tampering)
{
  const TemporaryFile file(".pt");
  const ModelSpec model = write_toy(drawn.toy, drawn.cutoff, file.path());
  ModelRun dense = dense_run(drawn.system);
  dense.skin = drawn.skin;
  dense.node_virial = drawn.toy.form == ToyForm::edge_vectors;
  dense.options.spec.distribution.custom_ops = adapters_of(drawn.toy);
  ModelRun run = dense;
  run.owners = drawn.owners;
  run.ranks = drawn.ranks;
  run.mode = drawn.realisation.mode;
  run.every_atom = drawn.realisation.every_atom;
  run.evaluations = 2;    // sums over the system are recorded in the first, and replayed then
  run.wrap = tampering;
  const ModelResult expected = run_model(model, drawn.system, drawn.moved, dense);
  const ModelResult found = run_model(model, drawn.system, drawn.moved, run);

  Deviation deviation;
  compare(deviation, "energy", std::array{found.energy}, std::array{expected.energy});
  compare(deviation, "per-atom energies", found.node_energy, expected.node_energy);
  compare(deviation, "forces", found.forces, expected.forces);
  compare(deviation, "virial", found.virial, expected.virial);
  if (dense.node_virial)
    compare(deviation, "per-atom virials", found.node_virial, expected.node_virial);
  compare(deviation, "gradients by charges", found.charge_gradient, expected.charge_gradient);
  for (const double force : expected.forces)
    deviation.forces = std::max(deviation.forces, std::abs(force));
  return deviation;
}

std::string fault_of_edges(const RandomCase &drawn)
{
  std::map<Edge, int> found;
  std::mutex mutex;
  run_virtual_ranks(drawn.ranks, [&](Communicator &communicator) {
    const double reach = drawn.cutoff + drawn.skin;
    VirtualRank view(drawn.system, drawn.owners, communicator.rank(), reach + 0.5);
    AtomGraph graph;
    BuildOptions options;
    options.reach = reach;
    options.every_atom = drawn.realisation.every_atom;
    HaloExchange exchange(communicator);
    exchange.set_plan(build_graph(communicator, view.atoms(), view.neighbours(), options, graph));
    view.move(drawn.moved);
    select_edges(graph, view.step().positions, drawn.cutoff);
    // Which atom each row is, and where its owner holds it.
    std::vector<double> atoms, positions;
    for (std::int64_t row = 0; row < graph.n_owned; ++row) {
      const std::int64_t atom = view.global(row);
      atoms.push_back(static_cast<double>(atom));
      for (std::size_t a = 0; a < 3; ++a)
        positions.push_back(drawn.moved.positions[3 * static_cast<std::size_t>(atom) + a]);
    }
    gather_array(exchange, atoms, 1);
    gather_array(exchange, positions, 3);
    const std::vector<double> shifts = edge_unit_shifts(graph, positions, view.step().cell);
    const std::lock_guard lock(mutex);
    for (std::size_t e = 0; e < graph.receivers.size(); ++e) {
      const auto atom = [&](std::int64_t row) {
        return static_cast<std::int64_t>(atoms[static_cast<std::size_t>(row)]);
      };
      const auto shift = [&](std::size_t a) { return static_cast<int>(shifts[3 * e + a]); };
      ++found[{atom(graph.receivers[e]), atom(graph.senders[e]), shift(0), shift(1), shift(2)}];
    }
  });
  for (const auto &[edge, times] : found) {
    const auto &[receiver, sender, i, j, k] = edge;
    const std::string name = "edge " + std::to_string(receiver) + " - " + std::to_string(sender);
    if (times != 1) return name + " is there " + std::to_string(times) + " times";
    if (!found.contains({sender, receiver, -i, -j, -k})) return name + " has no reverse";
  }
  const std::map<Edge, int> expected = edges_by_brute_force(drawn.moved, drawn.cutoff);
  if (found == expected) return "";
  return std::to_string(found.size()) + " edges, of which " + std::to_string(expected.size()) +
         " were expected, or others";
}

}    // namespace mlip_dd::test
