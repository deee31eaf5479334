// If these fail, a model sees missing, doubled or foreign edges, or more rows than it needs.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include "catch.h"
#include "comm/thread_communicator.h"
#include "consolidate/edge_forces.h"
#include "graph/build.h"
#include "support/virtual_system.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kCutoff = 3.0;
constexpr double kSkin = 0.4;

// An edge as the whole system knows it: receiver, sender, vector rounded so that it can be
// compared.
using GlobalEdge = std::array<std::int64_t, 5>;

GlobalEdge global_edge(std::int64_t receiver, std::int64_t sender, const double *vector)
{
  constexpr double kResolution = 1e-6;    // far below the distance between two images of an atom
  GlobalEdge edge{receiver, sender};
  for (std::size_t c = 0; c < 3; ++c) edge[2 + c] = std::llround(vector[c] / kResolution);
  return edge;
}

// All pairs closer than the cutoff, images summed explicitly.
std::vector<GlobalEdge> brute_force(const PeriodicSystem &system)
{
  std::vector<GlobalEdge> edges;
  const auto &h = system.cell.vectors;
  constexpr int kReach = 4;
  for (std::int64_t i = 0; i < system.size(); ++i)
    for (std::int64_t j = 0; j < system.size(); ++j)
      for (int a = -kReach; a <= kReach; ++a)
        for (int b = -kReach; b <= kReach; ++b)
          for (int c = -kReach; c <= kReach; ++c) {
            if ((a && !system.cell.periodic[0]) || (b && !system.cell.periodic[1]) ||
                (c && !system.cell.periodic[2]))
              continue;
            if (i == j && !a && !b && !c) continue;
            std::array<double, 3> r{};
            double squared = 0.0;
            for (std::size_t x = 0; x < 3; ++x) {
              r[x] = system.positions[3 * static_cast<std::size_t>(j) + x] -
                     system.positions[3 * static_cast<std::size_t>(i) + x] + a * h[x] +
                     b * h[3 + x] + c * h[6 + x];
              squared += r[x] * r[x];
            }
            if (squared < kCutoff * kCutoff) edges.push_back(global_edge(i, j, r.data()));
          }
  std::sort(edges.begin(), edges.end());
  return edges;
}

struct Case {
  const char *name;
  std::int64_t atoms;
  Cell cell;
  int ranks;
  std::vector<int> empty;
};

std::vector<Case> cases()
{
  Cell slab = orthogonal_cell(9, 8, 14);
  slab.periodic = {true, true, false};
  Cell cluster = orthogonal_cell(20, 20, 20);
  cluster.periodic = {false, false, false};
  return {{"bulk", 90, orthogonal_cell(11, 10, 9), 5, {}},
          {"triclinic, empty rank", 80, tilted_cell(10, 11, 9, 0.3), 6, {3}},
          {"box smaller than the cutoff", 3, orthogonal_cell(2.6, 2.9, 3.3), 3, {}},
          {"one atom, many images, more ranks than atoms",
           1,
           tilted_cell(2.5, 2.5, 2.5, 0.3),
           4,
           {0, 1}},
          {"slab", 60, slab, 4, {}},
          {"cluster with vacuum", 90, cluster, 7, {6}},
          {"one rank", 40, orthogonal_cell(8, 8, 8), 1, {}}};
}

}    // namespace

TEST_CASE(
    "every edge of the system is on one rank, the receiver's owner, and no rank has a row too many")
{
  for (const Case &c : cases()) {
    INFO(c.name);
    std::mt19937_64 random(11);
    const PeriodicSystem system = random_system(random, c.atoms, c.cell, 2, 1.1);
    const auto owners = random_owners(random, c.atoms, c.ranks, c.empty);
    std::vector<std::vector<GlobalEdge>> edges(static_cast<std::size_t>(c.ranks));
    std::vector<std::int64_t> halo(edges.size()), expected(edges.size());
    run_virtual_ranks(c.ranks, [&](Communicator &communicator) {
      const int rank = communicator.rank();
      VirtualRank view(system, owners, rank, kCutoff + kSkin + 0.5);
      AtomGraph graph;
      const HaloPlan plan =
          build_graph(communicator, view.atoms(), view.neighbours(), {kCutoff + kSkin, 1}, graph);
      select_edges(graph, view.step().positions, kCutoff);
      // Halo rows tell who they are by asking their owner.
      std::vector<std::int64_t> global(static_cast<std::size_t>(graph.n_rows()));
      for (std::int64_t row = 0; row < graph.n_owned; ++row)
        global[static_cast<std::size_t>(row)] = view.global(row);
      for (std::size_t k = 0; k < graph.candidates.size(); ++k) {
        // The host atom of a candidate names the system's atom, whatever the image.
        const auto sender = static_cast<std::size_t>(graph.candidates.sender_row(k));
        const std::int64_t named = view.global(graph.candidates.sender_atoms[k]);
        if (graph.candidates.sender_row(k) >= graph.n_owned) global[sender] = named;
        if (global[sender] != named) throw std::runtime_error("row of an atom");
        if (graph.types[sender] != system.types[static_cast<std::size_t>(global[sender])])
          throw std::runtime_error("type of a row");
      }
      auto &mine = edges[static_cast<std::size_t>(rank)];
      for (std::size_t e = 0; e < graph.receivers.size(); ++e) {
        if (graph.receivers[e] >= graph.n_owned) throw std::runtime_error("a halo row receives");
        mine.push_back(global_edge(global[static_cast<std::size_t>(graph.receivers[e])],
                                   global[static_cast<std::size_t>(graph.senders[e])],
                                   &graph.vectors[3 * e]));
      }
      halo[static_cast<std::size_t>(rank)] = plan.n_halo;
      expected[static_cast<std::size_t>(rank)] = view.remote_atoms_within(kCutoff + kSkin);
    });
    std::vector<GlobalEdge> all;
    for (const auto &mine : edges) all.insert(all.end(), mine.begin(), mine.end());
    std::sort(all.begin(), all.end());
    const auto reference = brute_force(system);
    CHECK(reference.size() >= 6);
    CHECK(all == reference);
    CHECK(halo == expected);
    if (c.ranks == 1) CHECK(halo[0] == 0);
  }
}

TEST_CASE("edges follow the positions between reneighbourings")
{
  std::mt19937_64 random(2);
  PeriodicSystem system = random_system(random, 70, tilted_cell(9, 9, 9, 0.2), 1, 1.2);
  const auto owners = random_owners(random, 70, 3);
  std::vector<double> shifts(210);
  std::uniform_real_distribution<double> small(-0.11, 0.11);    // pairs move by less than the skin
  for (double &shift : shifts) shift = small(random);
  std::vector<std::int64_t> before(3), after(3);
  PeriodicSystem moved = system;
  for (std::size_t k = 0; k < shifts.size(); ++k) moved.positions[k] += shifts[k];
  run_virtual_ranks(3, [&](Communicator &communicator) {
    VirtualRank view(system, owners, communicator.rank(), kCutoff + kSkin + 0.5);
    AtomGraph graph;
    build_graph(communicator, view.atoms(), view.neighbours(), {kCutoff + kSkin, 1}, graph);
    select_edges(graph, view.step().positions, kCutoff);
    before[static_cast<std::size_t>(communicator.rank())] =
        static_cast<std::int64_t>(graph.receivers.size());
    view.move(moved);
    select_edges(graph, view.step().positions, kCutoff);
    after[static_cast<std::size_t>(communicator.rank())] =
        static_cast<std::int64_t>(graph.receivers.size());
  });
  const auto total = [](const std::vector<std::int64_t> &counts) {
    return static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
  };
  CHECK(total(before) == brute_force(system).size());
  CHECK(total(after) == brute_force(moved).size());
  CHECK(brute_force(system) != brute_force(moved));
  CHECK(total(before) != total(after));
}

TEST_CASE("atoms outside the model have no rows and no edges")
{
  std::mt19937_64 random(8);
  PeriodicSystem system = random_system(random, 60, orthogonal_cell(9, 9, 9), 2, 1.2);
  const auto owners = random_owners(random, 60, 2);
  run_virtual_ranks(2, [&](Communicator &communicator) {
    VirtualRank view(system, owners, communicator.rank(), kCutoff + kSkin + 0.5);
    // Type 1 is left out: the owner says so by the row, as LAMMPS's side does.
    const HostAtoms all = view.atoms();
    std::vector<std::int32_t> types(all.types.begin(), all.types.end());
    for (auto &type : types) type = type == 1 ? -1 : 0;
    std::vector<RowOwner> owner_rows(all.owners.begin(), all.owners.end());
    std::vector<std::vector<std::int64_t>> rows(2);
    for (int rank = 0; rank < 2; ++rank) {
      std::int64_t next = 0;
      for (std::size_t i = 0; i < owners.size(); ++i)
        if (owners[i] == rank)
          rows[static_cast<std::size_t>(rank)].push_back(system.types[i] == 1 ? kNotInModel
                                                                              : next++);
    }
    for (auto &owner : owner_rows)
      owner.row = rows[static_cast<std::size_t>(owner.rank)][static_cast<std::size_t>(owner.row)];
    HostAtoms atoms = all;
    atoms.types = types;
    atoms.owners = owner_rows;
    std::vector<std::int64_t> numbered(static_cast<std::size_t>(atoms.n_local));
    const std::int64_t count = number_owned_rows(types, atoms.n_local, numbered);
    AtomGraph graph;
    build_graph(communicator, atoms, view.neighbours(), {kCutoff + kSkin, 1}, graph);
    if (graph.n_owned != count) throw std::runtime_error("owned rows");
    for (std::int64_t i = 0; i < atoms.n_local; ++i)
      if (numbered[static_cast<std::size_t>(i)] != owner_rows[static_cast<std::size_t>(i)].row)
        throw std::runtime_error("row numbers");
    for (const auto &ends : {graph.candidates.sender_atoms, graph.candidates.receiver_atoms})
      for (const std::int32_t atom : ends)
        if (types[static_cast<std::size_t>(atom)] < 0)
          throw std::runtime_error("an edge ends outside the model");
  });
  SUCCEED();
}

TEST_CASE("a wide halo holds all edges of atoms up to layers - 1 edges away")
{
  // Sum over owned atoms of the number of walks of L edges counts every edge of every layer; it
  // equals the sum over the whole system only when no edge of an inner layer is missing or doubled.
  constexpr int kLayers = 3;
  for (const Case &c : cases()) {
    INFO(c.name);
    std::mt19937_64 random(12);
    const PeriodicSystem system = random_system(random, c.atoms, c.cell, 1, 1.1);
    const auto owners = random_owners(random, c.atoms, c.ranks, c.empty);
    std::vector<double> walks(static_cast<std::size_t>(c.atoms), 1.0);
    const auto edges = brute_force(system);
    for (int layer = 0; layer < kLayers; ++layer) {
      std::vector<double> next(walks.size(), 0.0);
      for (const GlobalEdge &edge : edges)
        next[static_cast<std::size_t>(edge[0])] += walks[static_cast<std::size_t>(edge[1])];
      walks = next;
    }
    std::vector<double> found(walks.size(), -1.0);
    run_virtual_ranks(c.ranks, [&](Communicator &communicator) {
      VirtualRank view(system, owners, communicator.rank(), kLayers * (kCutoff + kSkin) + 0.5);
      AtomGraph graph;
      const NeighbourList all = view.neighbours();
      build_graph(communicator, view.atoms(), all, {kCutoff + kSkin, kLayers}, graph);
      select_edges(graph, view.step().positions, kCutoff);
      std::vector<double> local(static_cast<std::size_t>(graph.n_rows()), 1.0);
      for (int layer = 0; layer < kLayers; ++layer) {
        std::vector<double> next(local.size(), 0.0);
        for (std::size_t e = 0; e < graph.receivers.size(); ++e)
          next[static_cast<std::size_t>(graph.receivers[e])] +=
              local[static_cast<std::size_t>(graph.senders[e])];
        local = next;
      }
      for (std::int64_t row = 0; row < graph.n_owned; ++row)
        found[static_cast<std::size_t>(view.global(row))] = local[static_cast<std::size_t>(row)];
    });
    CHECK(found == walks);
  }
}

TEST_CASE("forces and virial of edges are the derivatives of an energy over edges")
{
  // E = sum over edges of (1 + 0.1 x y) exp(-r^2): not radial, so that a transposed virial is
  // noticed.
  const auto energy_of = [](const AtomGraph &graph, std::vector<double> *gradient) {
    double energy = 0.0;
    for (std::size_t e = 0; e < graph.receivers.size(); ++e) {
      const double x = graph.vectors[3 * e], y = graph.vectors[3 * e + 1],
                   z = graph.vectors[3 * e + 2];
      const double fall = std::exp(-(x * x + y * y + z * z)), factor = 1.0 + 0.1 * x * y;
      energy += factor * fall;
      if (gradient) {
        gradient->push_back(fall * (0.1 * y - 2.0 * x * factor));
        gradient->push_back(fall * (0.1 * x - 2.0 * y * factor));
        gradient->push_back(fall * (-2.0 * z * factor));
      }
    }
    return energy;
  };
  const auto self = make_self_communicator();
  std::mt19937_64 random(21);
  const PeriodicSystem system = random_system(random, 20, tilted_cell(6, 6, 6, 0.2), 1, 1.2);
  const std::vector<int> owners(20, 0);
  VirtualRank view(system, owners, 0, kCutoff + 1.0);
  AtomGraph graph;
  build_graph(*self, view.atoms(), view.neighbours(), {kCutoff + 0.9, 1}, graph);
  const auto energy_at = [&](const PeriodicSystem &moved) {
    view.move(moved);
    // No cutoff within reach of the finite difference: all candidates count.
    select_edges(graph, view.step().positions, 2.0 * kCutoff);
    return energy_of(graph, nullptr);
  };
  energy_at(system);
  std::vector<double> gradient, forces(60, 0.0), node_virial(180, 0.0);
  energy_of(graph, &gradient);
  std::array<double, 9> virial{};
  add_edge_forces(graph, gradient, forces);
  add_edge_virial(graph, gradient, virial);
  add_edge_node_virial(graph, gradient, VirialShare::ends, node_virial);

  constexpr double kStep = 1e-5;
  constexpr double kDifferenceError = 1e-8;    // step^2 times third derivatives of order 10
  double largest = 0.0;
  for (std::size_t k = 0; k < 60; k += 7) {
    PeriodicSystem plus = system, minus = system;
    plus.positions[k] += kStep;
    minus.positions[k] -= kStep;
    const double expected = -(energy_at(plus) - energy_at(minus)) / (2.0 * kStep);
    CHECK(std::abs(forces[k] - expected) < kDifferenceError);
    largest = std::max(largest, std::abs(expected));
  }
  CHECK(largest > 0.01);

  // dE/d(strain_ab), x -> x + strain x: W_ab = -dE/d(strain_ba) = -sum r_a g_b.
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      const auto strained = [&](double strain) {
        PeriodicSystem result = system;
        for (std::size_t i = 0; i < 20; ++i)
          result.positions[3 * i + b] += strain * system.positions[3 * i + a];
        for (std::size_t v = 0; v < 3; ++v)
          result.cell.vectors[3 * v + b] += strain * system.cell.vectors[3 * v + a];
        return energy_at(result);
      };
      const double expected = -(strained(kStep) - strained(-kStep)) / (2.0 * kStep);
      CHECK(std::abs(virial[3 * a + b] - expected) < 100.0 * kDifferenceError);
      double summed = 0.0;
      for (std::size_t i = 0; i < 20; ++i) summed += node_virial[9 * i + 3 * a + b];
      CHECK(std::abs(summed - virial[3 * a + b]) < 1e-12);
    }
  CHECK(virial[0] + virial[4] + virial[8] > 1.0);    // a repulsive energy pushes outwards
}
