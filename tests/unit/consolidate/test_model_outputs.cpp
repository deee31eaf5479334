// If these fail, what a scripted model returns beside per-atom energies (a total, forces, a virial
// or stress of its own, outputs of atoms or of the system) is another number on several ranks.
#include <ATen/ATen.h>

#include <cmath>
#include <random>
#include <string>

#include "base/error.h"
#include "catch.h"
#include "support/model_run.h"
#include "support/script.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kCutoff = 3.0;
// Float64 sums of some hundred terms of order one; the total's square adds factors of order one.
constexpr double kRoundOff = 1e-10;

// Two layers, so that forces inside need exchanges. The whole energy is no sum of parts: its
// gradient is 1 + 0.002 E times that of the sum.
const std::string kEnergies = R"(
    def energies(self, types, edge_index, r):
        receivers, senders = edge_index[0], edge_index[1]
        squared = (r * r).sum(1)
        w = ((1.0 - squared / 9.0).clamp(min=0.0) ** 4).unsqueeze(1)
        x = (types.to(r.dtype).unsqueeze(1) + 1.0) * torch.tensor([[0.3, -0.2, 0.5]], dtype=torch.float64)
        for layer in range(2):
            angular = w * torch.cat([r[:, 0:1], r[:, 1:2] * r[:, 2:3], squared.unsqueeze(1)], 1)
            x = x + torch.tanh(torch.zeros_like(x).index_add(0, receivers, angular * x[senders]))
        return (x * x).sum(1)

    def whole(self, e, batch):
        total = torch.zeros([1], dtype=torch.float64).index_add(0, batch, e)
        return total + 0.001 * total * total
)";
constexpr double kSquare = 0.001;

const std::string kFramework = kEnergies + R"(
    def forward(self, types, edge_index, edge_vectors, batch):
        e = self.energies(types, edge_index, edge_vectors)
        n = torch.ones_like(e)
        return {"e": e, "part": e.sum(), "whole": self.whole(e, batch),
                "atoms": torch.zeros([1], dtype=torch.float64).index_add(0, batch, n),
                "moment": (e.unsqueeze(1) * torch.tensor([[1.0, 2.0, -1.0]], dtype=torch.float64)).sum(0),
                "version": torch.tensor(3.5, dtype=torch.float64), "double": torch.stack([e, 2.0 * e], 1)}
)";

const std::string kInternal = kEnergies + R"(
    def forward(self, types, edge_index, positions, edge_unit_shifts, cell, batch):
        strain = torch.zeros([3, 3], dtype=torch.float64)
        strain.requires_grad_(True)
        positions.requires_grad_(True)
        x = positions + positions @ strain
        c = cell + cell @ strain
        r = x[edge_index[1]] - x[edge_index[0]] + edge_unit_shifts @ c
        e = self.energies(types, edge_index, r)
        whole = self.whole(e, batch)
        g = torch.autograd.grad([e.sum()], [positions, strain, r], retain_graph=True)
        h = torch.autograd.grad([whole], [positions, strain], retain_graph=True)
        f, w, ge, fw, ww = g[0], g[1], g[2], h[0], h[1]
        assert f is not None and w is not None and ge is not None and fw is not None and ww is not None
        share = torch.zeros([types.size(0), 3, 3], dtype=torch.float64).index_add(
            0, edge_index[0], -(r.unsqueeze(2) * ge.unsqueeze(1)))
        volume = torch.abs(torch.det(cell))
        total = whole.detach() * torch.eye(3, dtype=torch.float64)
        return {"e": e, "whole": whole, "part": e.sum(), "f": -f, "w": -w, "stress": w / volume,
                "share": share, "f_whole": -fw, "w_whole": -ww, "direct": positions.detach() * 0.0 + 1.0,
                "stress_of_all": -total / volume, "response": 2.0 * f}
)";

struct Written {
  TemporaryFile file{".pt"};
  ModelSpec model;
  Written(const std::string &source, std::vector<std::string> inputs,
          const std::map<std::string, std::string> &outputs, int layers = 2)
  {
    scripted(source, {{"unit", at::ones({1}, at::kDouble)}}).save(file.path());
    inputs.insert(inputs.end(), {"types", "edge_index", "batch"});
    model = generic_model(file.path(), kCutoff, layers, inputs);
    model.outputs = outputs;
  }
};
const std::vector<std::string> kByEdges{"edge_vectors"};
const std::vector<std::string> kByPositions{"positions", "edge_unit_shifts", "cell"};

const PeriodicSystem &bulk()
{
  static const PeriodicSystem system = [] {
    std::mt19937_64 random(29);
    return random_system(random, 30, tilted_cell(8, 7, 6, 0.2), 2, 1.3);
  }();
  return system;
}

// Forces and virial of the sum of the atoms' energies, which other tests hold against differences.
const ModelResult &oracle()
{
  static const ModelResult result = [] {
    const Written written(kFramework, kByEdges, {{"node_energy", "e"}});
    return run_model(written.model, bulk(), bulk(), dense_run(bulk()));
  }();
  return result;
}

template <class Values>
Values times(Values values, double factor)
{
  for (double &value : values) value *= factor;
  return values;
}

// On 1 to 8 ranks, one of them without atoms, with node tensors of owned rows and of all.
void on_ranks(const std::function<void(ModelRun)> &check,
              const std::vector<HaloMode> &modes = {HaloMode::exchange, HaloMode::padded})
{
  std::mt19937_64 random(11);
  for (const int ranks : {1, 2, 3, 5, 8})
    for (const HaloMode mode : modes) {
      INFO(ranks << " ranks, mode " << static_cast<int>(mode));
      ModelRun run{random_owners(random, bulk().size(), ranks,
                                 ranks > 2 ? std::vector<int>{0} : std::vector<int>{}),
                   ranks, mode};
      run.node_virial = false;
      run.evaluations = 2;
      check(run);
    }
}

MLIPSpec strategy(ForceStrategy force_strategy, bool stress_via_strain = false)
{
  MLIPSpec spec;
  spec.compile = CompilePolicy{false, force_strategy, stress_via_strain};
  return spec;
}

}    // namespace

TEST_CASE("each force strategy gives the derivatives of the energy that it names")
{
  const double energy = oracle().energy, slope = 1.0 + 2.0 * kSquare * energy;
  REQUIRE(std::abs(slope - 1.0) > 0.01);
  REQUIRE(difference(oracle().forces, std::vector<double>(oracle().forces.size())) > 0.1);
  struct Row {
    std::string name;
    MLIPSpec spec;
    bool internal;
    std::map<std::string, std::string> outputs;
    bool whole;
    // The energy read is a total over the rows that a rank holds: a part only of its own rows.
    bool needs_owned_rows = false;
    bool node_virial = false;
  };
  using enum ForceStrategy;
  std::vector<Row> rows;
  for (const bool strain : {false, true}) {
    rows.push_back({"atoms' energies",
                    strategy(FrameworkFromNodeEnergy, strain),
                    false,
                    {{"node_energy", "e"}, {"energy", "whole"}},
                    false});
    rows.push_back({"the whole",
                    strategy(FrameworkFromGlobalEnergy, strain),
                    false,
                    {{"energy", "whole"}},
                    true});
    rows.push_back({"atoms' energies by positions",
                    strategy(FrameworkFromNodeEnergy, strain),
                    true,
                    {{"node_energy", "e"}, {"forces", "f_whole"}, {"energy", "whole"}},
                    false});
    rows.push_back({"the whole by positions",
                    strategy(FrameworkFromGlobalEnergy, strain),
                    true,
                    {{"energy", "whole"}, {"node_energy", "e"}},
                    true});
  }
  const auto with_parts = [](MLIPSpec spec) {
    spec.all_reduce_outputs = {"energy"};
    return spec;
  };
  rows.push_back({"parts",
                  with_parts(strategy(FrameworkFromGlobalEnergy)),
                  false,
                  {{"energy", "part"}, {"node_energy", "e"}},
                  false,
                  true});
  // No total: the sum of atoms' energies is the same.
  rows.push_back({"the sum of atoms' energies",
                  strategy(FrameworkFromGlobalEnergy),
                  false,
                  {{"node_energy", "e"}},
                  false});
  // Not named in the spec: by what the model returns.
  rows.push_back({"forces inside",
                  with_parts({}),
                  true,
                  {{"node_energy", "e"}, {"energy", "part"}, {"forces", "f"}, {"virial", "w"}},
                  false});
  rows.push_back({"forces and stress inside",
                  with_parts(strategy(ModelInternal)),
                  true,
                  {{"node_energy", "e"}, {"energy", "part"}, {"forces", "f"}, {"stress", "stress"}},
                  false});
  Row shares{"virials of atoms",
             with_parts(strategy(ModelInternal)),
             true,
             {{"e_i", "e"},
              {"energy", "part"},
              {"forces", "f"},
              {"w_i", "share"},
              {"stress", "stress_of_all"}},
             false};
  shares.spec.node_energy_key = "e_i";
  shares.spec.node_virial_key = "w_i";
  shares.node_virial = true;
  rows.push_back(shares);
  rows.push_back({"forces of the whole inside",
                  strategy(ModelInternal),
                  true,
                  {{"energy", "whole"}, {"forces", "f_whole"}, {"virial", "w_whole"}},
                  true});
  Row parts_inside{"forces of parts inside",
                   with_parts(strategy(ModelInternal)),
                   true,
                   {{"energy", "part"}, {"forces", "f"}, {"stress", "stress"}},
                   false,
                   true};
  parts_inside.spec.all_reduce_outputs.insert("stress");
  rows.push_back(parts_inside);

  for (const Row &row : rows) {
    Written written(row.internal ? kInternal : kFramework, row.internal ? kByPositions : kByEdges,
                    row.outputs);
    on_ranks([&](ModelRun run) {
      INFO(row.name);
      if (row.needs_owned_rows && run.mode == HaloMode::padded && run.ranks > 1) return;
      run.options.spec = row.spec;
      run.node_virial = row.node_virial;
      run.node_energy = row.outputs.contains("node_energy") || row.outputs.contains("e_i");
      const ModelResult found = run_model(written.model, bulk(), bulk(), run);
      const double factor = row.whole ? slope : 1.0;
      CHECK(std::abs(found.energy - (row.whole ? energy + kSquare * energy * energy : energy)) <
            kRoundOff);
      CHECK(difference(found.forces, times(oracle().forces, factor)) < kRoundOff);
      CHECK(difference(found.virial, times(oracle().virial, factor)) < 10 * kRoundOff);
      if (run.node_energy) CHECK(difference(found.node_energy, oracle().node_energy) < kRoundOff);
      if (!row.node_virial) return;
      std::array<double, 9> sum{};
      for (std::size_t k = 0; k < found.node_virial.size(); ++k) sum[k % 9] += found.node_virial[k];
      CHECK(difference(sum, oracle().virial) < 10 * kRoundOff);
    });
  }
}

TEST_CASE(
    "a stress that is no derivative counts once where all ranks have it, and by parts where not")
{
  // -stress_of_all * volume is the whole energy, times the identity.
  Written written(kInternal, kByPositions,
                  {{"energy", "whole"}, {"forces", "direct"}, {"stress", "stress_of_all"}});
  written.model.autograd_outputs = {};
  const double whole = oracle().energy + kSquare * oracle().energy * oracle().energy;
  on_ranks([&](ModelRun run) {
    run.options.spec = strategy(ForceStrategy::ModelInternal);
    const ModelResult found = run_model(written.model, bulk(), bulk(), run);
    CHECK(difference(found.virial, std::array<double, 9>{whole, 0, 0, 0, whole, 0, 0, 0, whole}) <
          10 * kRoundOff);
    // Forces that are no derivatives are not added up over copies of an atom.
    CHECK(difference(found.forces, std::vector<double>(found.forces.size(), 1.0)) == 0.0);
  });
}

TEST_CASE("outputs of atoms come home or are cut as declared, where rows of other ranks hold parts")
{
  // One layer and a wide halo: rows of other ranks have gradients of their own.
  std::string source = kInternal;
  source.replace(source.find("range(2)"), 8, "range(1)");
  Written written(source, kByPositions,
                  {{"node_energy", "e"},
                   {"energy", "part"},
                   {"forces", "f"},
                   {"virial", "w"},
                   {"response", "response"}},
                  1);
  MLIPSpec spec;
  spec.all_reduce_outputs = {"energy"};
  ModelRun dense = dense_run(bulk());
  dense.node_virial = false;
  dense.options.spec = spec;
  dense.fields = {"response"};
  written.model.autograd_outputs.push_back("response");
  const ModelResult expected = run_model(written.model, bulk(), bulk(), dense);
  CHECK(difference(times(expected.fields.at("response"), -0.5), expected.forces) < kRoundOff);
  on_ranks(
      [&](ModelRun run) {
        run.options.spec = spec;
        run.fields = {"response"};
        const ModelResult found = run_model(written.model, bulk(), bulk(), run);
        CHECK(difference(found.fields.at("response"), expected.fields.at("response")) < kRoundOff);
        if (run.ranks == 1 || run.mode != HaloMode::wide) return;
        run.options.spec.owned_only_outputs = {"response"};
        const ModelResult cut = run_model(written.model, bulk(), bulk(), run);
        CHECK(difference(cut.fields.at("response"), expected.fields.at("response")) > 0.01);
      },
      {HaloMode::exchange, HaloMode::padded, HaloMode::wide});
}

TEST_CASE("outputs of the system are the same on all ranks and as on one")
{
  Written written(kFramework, kByEdges,
                  {{"node_energy", "e"},
                   {"count", "atoms"},
                   {"moment", "moment"},
                   {"version", "version"},
                   {"pairs", "double"}});
  MLIPSpec spec;
  spec.output_kinds = {{"count", OutputKind::PerGraph},
                       {"moment", OutputKind::PerGraph},
                       {"version", OutputKind::Global}};
  spec.all_reduce_outputs = {"moment"};
  const double energy = oracle().energy;
  on_ranks([&](ModelRun run) {
    if (run.mode == HaloMode::padded && run.ranks > 1) return;
    run.options.spec = spec;
    run.systems = {"count", "moment", "version"};
    run.fields = {"pairs"};
    const ModelResult found = run_model(written.model, bulk(), bulk(), run);
    CHECK(found.systems.at("count").values == std::vector<double>{30.0});
    CHECK(difference(found.systems.at("moment").values,
                     std::vector<double>{energy, 2 * energy, -energy}) < kRoundOff);
    CHECK(found.systems.at("version").values == std::vector<double>{3.5});
    CHECK(found.systems.at("version").shape.empty());
    // No kind is declared: taken by rows, with one warning that names it.
    CHECK(found.fields.at("pairs").size() == 60);
    CHECK(std::abs(found.fields.at("pairs")[1] - 2 * oracle().node_energy[0]) < kRoundOff);
    REQUIRE(found.warnings.size() == 1);
    CHECK_THAT(found.warnings[0],
               contains("\"pairs\"") && contains("per_node") && contains("/output_kinds"));
  });
}

TEST_CASE(
    "a derivative of the whole energy among the system's outputs counts once, though each rank "
    "takes it")
{
  Written written(
      kInternal, kByPositions,
      {{"energy", "whole"}, {"forces", "f_whole"}, {"virial", "w_whole"}, {"tensor", "w_whole"}});
  written.model.autograd_outputs.push_back("tensor");
  MLIPSpec spec = strategy(ForceStrategy::ModelInternal);
  spec.output_kinds = {{"tensor", OutputKind::PerGraph}};
  spec.all_reduce_outputs = {"tensor"};
  const double slope = 1.0 + 2.0 * kSquare * oracle().energy;
  const std::array<double, 9> expected = times(oracle().virial, slope);
  on_ranks(
      [&](ModelRun run) {
        run.options.spec = spec;
        run.systems = {"tensor"};
        const ModelResult found = run_model(written.model, bulk(), bulk(), run);
        const std::vector<double> &tensor = found.systems.at("tensor").values;
        REQUIRE(tensor.size() == 9);
        CHECK(difference(tensor, std::vector<double>(expected.begin(), expected.end())) <
              10 * kRoundOff);
      },
      {HaloMode::exchange});
}

TEST_CASE("outputs that can't be had, or would be wrong, are refused with the cure")
{
  struct Row {
    std::string source;
    std::vector<std::string> inputs;
    std::map<std::string, std::string> outputs;
    MLIPSpec spec;
    HaloMode mode;
    std::vector<std::string> systems, fields;
    std::string said;
    bool node_energy = false, node_virial = false;
  };
  using enum ForceStrategy;
  MLIPSpec parts, rows_summed, per_system;
  parts.all_reduce_outputs = {"energy", "moment"};
  rows_summed.output_kinds = {{"double", OutputKind::PerNode}};
  rows_summed.all_reduce_outputs = {"double"};
  per_system.output_kinds = {{"moment", OutputKind::PerGraph}};
  const auto exchange = HaloMode::exchange, padded = HaloMode::padded;
  const std::vector<Row> rows{
      {kFramework,
       kByEdges,
       {{"node_energy", "e"}},
       strategy(ModelInternal),
       exchange,
       {},
       {},
       "\"forces\""},
      {kFramework,
       kByEdges,
       {{"energy", "whole"}},
       strategy(FrameworkFromNodeEnergy),
       exchange,
       {},
       {},
       "\"node_energy\""},
      {kFramework,
       kByEdges,
       {{"squared", "whole"}},
       strategy(FrameworkFromGlobalEnergy),
       exchange,
       {},
       {},
       "\"node_energy\""},
      // No stress without an output that gives it.
      {kInternal,
       kByPositions,
       {{"node_energy", "e"}, {"forces", "f"}},
       {},
       exchange,
       {},
       {},
       "must return its virial"},
      {kInternal,
       kByPositions,
       {{"node_energy", "e"}, {"energy", "part"}, {"forces", "f"}, {"stress", "stress"}},
       parts,
       exchange,
       {},
       {},
       "node_virial",
       false,
       true},
      {kFramework,
       kByEdges,
       {{"energy", "whole"}},
       {},
       exchange,
       {},
       {},
       "per-atom energies",
       true},
      {kFramework, kByEdges, {{"energy", "part"}}, {}, exchange, {}, {}, "reduces over all"},
      {kFramework, kByEdges, {{"energy", "part"}}, parts, padded, {}, {}, "halo exchange"},
      {kFramework,
       kByEdges,
       {{"node_energy", "e"}, {"moment", "moment"}},
       parts,
       padded,
       {"moment"},
       {},
       "halo exchange"},
      {kFramework,
       kByEdges,
       {{"node_energy", "e"}, {"moment", "moment"}},
       per_system,
       exchange,
       {"moment"},
       {},
       "reduces over all"},
      {kFramework,
       kByEdges,
       {{"node_energy", "e"}, {"double", "double"}},
       rows_summed,
       exchange,
       {},
       {},
       "/all_reduce_outputs"},
      {kFramework,
       kByEdges,
       {{"node_energy", "e"}, {"double", "double"}},
       {},
       exchange,
       {"double"},
       {},
       "per_graph"},
      {kFramework,
       kByEdges,
       {{"node_energy", "e"}, {"moment", "moment"}},
       {},
       exchange,
       {},
       {"moment"},
       "one row per atom"},
  };
  for (const Row &row : rows) {
    INFO(row.said);
    const Written written(row.source, row.inputs, row.outputs);
    std::mt19937_64 random(3);
    ModelRun run{random_owners(random, bulk().size(), 2), 2, row.mode};
    run.node_virial = row.node_virial;
    run.node_energy = row.node_energy;
    run.options.spec = row.spec;
    run.systems = row.systems;
    run.fields = row.fields;
    CHECK_THROWS_WITH(run_model(written.model, bulk(), bulk(), run), contains(row.said));
  }
}
