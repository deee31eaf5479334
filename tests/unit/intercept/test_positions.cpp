// If these fail, models that make edge vectors from positions, or differentiate inside, get other
// numbers than models that are given edge vectors; or node tensors that hold halo rows too count
// those rows' energies or gradients.
#include <random>
#include <string>

#include "base/error.h"
#include "catch.h"
#include "graph/edge_shifts.h"
#include "support/model_run.h"
#include "support/script_file.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kCutoff = 3.0;
constexpr int kLayers = 2;
// Float64 sums of some hundred terms of order one; shifts add rounding of positions of order ten.
constexpr double kRoundOff = 1e-11;

// Two layers and a readout. FORM makes `r` and returns.
std::string model_with(const std::string &arguments, const std::string &form)
{
  return R"(
    def energies(self, types, edge_index, r):
        receivers, senders = edge_index[0], edge_index[1]
        squared = (r * r).sum(1)
        w = ((1.0 - squared / 9.0).clamp(min=0.0) ** 4).unsqueeze(1)
        x = (types.to(r.dtype).unsqueeze(1) + 1.0) * torch.tensor([[0.3, -0.2, 0.5]], dtype=torch.float64)
        for layer in range(2):
            angular = w * torch.cat([r[:, 0:1], r[:, 1:2] * r[:, 2:3], squared.unsqueeze(1)], 1)
            x = x + torch.tanh(torch.zeros_like(x).index_add(0, receivers, angular * x[senders]))
        return (x * x).sum(1)

    def forward(self, types, edge_index, )" +
         arguments + "):\n" + form;
}

struct Form {
  const char *name;
  std::vector<std::string> inputs;
  std::string source;
  bool forces_inside = false;
};

const std::vector<Form> kForms{
    {"edge vectors",
     {"edge_vectors"},
     model_with("edge_vectors", "        return self.energies(types, edge_index, edge_vectors)\n")},
    {"positions and shifts",
     {"positions", "edge_shifts"},
     model_with("positions, edge_shifts",
                "        r = positions[edge_index[1]] + edge_shifts - positions[edge_index[0]]\n"
                "        return self.energies(types, edge_index, r)\n")},
    {"positions, lattice shifts and cell",
     {"positions", "edge_unit_shifts", "cell"},
     model_with("positions, edge_unit_shifts, cell", R"(
        r = positions.index_select(0, edge_index[1]) - positions.index_select(0, edge_index[0])
        return self.energies(types, edge_index, r + edge_unit_shifts @ cell)
)")},
    {"forces inside",
     {"positions", "edge_unit_shifts", "cell"},
     model_with("positions, edge_unit_shifts, cell", R"(
        strain = torch.zeros([3, 3], dtype=torch.float64)
        strain.requires_grad_(True)
        positions.requires_grad_(True)
        x = positions + positions @ strain
        c = cell + cell @ strain
        r = x[edge_index[1]] - x[edge_index[0]] + edge_unit_shifts @ c
        e = self.energies(types, edge_index, r)
        g = torch.autograd.grad([e.sum()], [positions, strain])
        f, w = g[0], g[1]
        assert f is not None and w is not None
        return e, -f, -w
)"),
     true},
};

// A file with the model, for as long as the object lives.
struct Written {
  TemporaryFile file{".pt"};
  ModelSpec model;
  explicit Written(const Form &form)
  {
    write_script(form.source, file.path());
    std::vector<std::string> inputs{"types", "edge_index"};
    inputs.insert(inputs.end(), form.inputs.begin(), form.inputs.end());
    model = generic_model(file.path(), kCutoff, kLayers, inputs);
    if (form.forces_inside)
      model.outputs = {{"node_energy", "0"}, {"forces", "1"}, {"virial", "2"}};
  }
};

PeriodicSystem bulk(unsigned seed, std::int64_t atoms = 30)
{
  std::mt19937_64 random(seed);
  PeriodicSystem system = random_system(random, atoms, tilted_cell(8, 7, 6, 0.2), 2, 1.3);
  // Some atoms lie outside the cell, as between reneighbourings.
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t a = 0; a < 3; ++a) system.positions[3 * i + a] += system.cell.vectors[3 + a];
  return system;
}

// The same atoms a little later, in a box that changed.
PeriodicSystem later(PeriodicSystem system)
{
  for (std::size_t k = 0; k < system.positions.size(); ++k)
    system.positions[k] = 1.01 * system.positions[k] + 0.03 * static_cast<double>(k % 7);
  for (double &length : system.cell.vectors) length *= 1.01;
  return system;
}

void check_same(const ModelResult &found, const ModelResult &expected)
{
  CHECK(difference(found.node_energy, expected.node_energy) < kRoundOff);
  CHECK(difference(found.forces, expected.forces) < kRoundOff);
  CHECK(difference(found.virial, expected.virial) < 10 * kRoundOff);
}

}    // namespace

TEST_CASE(
    "models by edge vectors, by positions, and with forces inside agree, dense and decomposed")
{
  const PeriodicSystem system = bulk(17), moved = later(system);
  std::mt19937_64 random(5);
  ModelRun dense = dense_run(system);
  dense.node_virial = false;
  const Written edges(kForms[0]);
  const ModelResult expected = run_model(edges.model, system, moved, dense);
  // There is something to see, and messages are heard: a layer less gives other forces.
  CHECK(difference(expected.forces, std::vector<double>(expected.forces.size())) > 0.1);

  for (const Form &form : kForms) {
    const Written written(form);
    INFO(form.name);
    check_same(run_model(written.model, system, moved, dense), expected);
    for (const HaloMode mode : {HaloMode::exchange, HaloMode::padded, HaloMode::wide}) {
      if (mode == HaloMode::wide && form.forces_inside) continue;
      INFO("mode " << static_cast<int>(mode));
      ModelRun run{random_owners(random, system.size(), 4, {1}), 4, mode};
      run.node_virial = false;
      run.evaluations = 2;
      check_same(run_model(written.model, system, moved, run), expected);
    }
  }
}

TEST_CASE("per-atom virials need a gradient by edges; forces inside need owned receivers")
{
  const PeriodicSystem system = bulk(18, 12);
  const Written shifts(kForms[1]), inside(kForms[3]);
  CHECK_NOTHROW(run_model(shifts.model, system, system, dense_run(system)));
  CHECK_THROWS_WITH(run_model(inside.model, system, system, dense_run(system)),
                    contains("per-atom virials"));
  ModelRun wide = dense_run(system);
  wide.mode = HaloMode::wide;
  wide.node_virial = false;
  CHECK_THROWS_WITH(run_model(inside.model, system, system, wide), contains("wide halo"));
}

TEST_CASE("an edge that ends beside every image of its sender is refused")
{
  AtomGraph graph;
  graph.n_owned = 2;
  graph.receivers = {0};
  graph.senders = {1};
  graph.vectors = {1.0, -7.0, 0.0};
  const Cell cell = tilted_cell(8, 7, 6, 0.0);
  CHECK(edge_unit_shifts(graph, std::vector<double>{0, 0, 0, 1, 0, 0}, cell) ==
        std::vector<double>{0, -1, 0});
  CHECK_THROWS_AS(edge_unit_shifts(graph, std::vector<double>{0, 0, 0, 1.1, 0, 0}, cell), Error);
}
