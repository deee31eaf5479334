// If these fail, an operator whose meaning over ranks the spec states is run with rows missing or
// counted twice, loses a gradient on another rank, or is let through where nobody said what it
// does.
#include <random>
#include <string>

#include "base/error.h"
#include "catch.h"
#include "potentials/torchscript/operator_libraries.h"
#include "support/model_run.h"
#include "support/script_file.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kCutoff = 3.0;
constexpr int kLayers = 2;
constexpr double kRoundOff = 1e-11;    // float64 sums of some hundred terms of order one

constexpr OutputTransform kScatter{OutputTransformKind::ScatterOutputs};
constexpr OutputTransform kSlice{OutputTransformKind::SliceOutputsOwned};
constexpr OutputTransform kSum{OutputTransformKind::AllReduceSum};
constexpr OutputTransform kReplicatedSum{OutputTransformKind::AllReduceSum, true};

const OpAdapter kMutual{"mlip_dd_test::mutual", {{0, ArgTransform::GatherInputs}}, {{0, kScatter}}};
const OpAdapter kMoments{
    "mlip_dd_test::moments", {{0, ArgTransform::SliceOwned}}, {{0, kSum}, {1, kSum}}};
const OpAdapter kAttend{
    "mlip_dd_test::attend", {{0, ArgTransform::GatherInputsFull}}, {{0, kSlice}}};
const OpAdapter kAttendPadded{
    "mlip_dd_test::attend_padded", {{0, ArgTransform::GatherInputsFull}}, {{0, kSlice}}};

// Two layers; STEP makes y, [n, 3], from x, w and edge_index.
std::string layers_of(const std::string &step)
{
  return R"(
    def forward(self, types, edge_index, edge_vectors):
        receivers, senders = edge_index[0], edge_index[1]
        squared = (edge_vectors * edge_vectors).sum(1)
        w = (1.0 - squared / 9.0).clamp(min=0.0) ** 4
        x = (types.to(edge_vectors.dtype).unsqueeze(1) + 1.0) * torch.tensor([[0.3, -0.2, 0.5]], dtype=torch.float64)
        x = x + torch.zeros_like(x).index_add(0, receivers, w.unsqueeze(1) * edge_vectors)
        for layer in range(2):
)" + step +
         R"(
            x = x + torch.tanh(y)
        return (x * x).sum(1)
)";
}

const std::string kMutualStep = "            y = mlip_dd_test.mutual(x, w, edge_index)\n";
const std::string kMomentsStep =
    "            a, b = mlip_dd_test.moments(x)\n"
    "            y = x * a + 0.1 * b\n";
const std::string kAttendStep = "            y = mlip_dd_test.attend(x)\n";
const std::string kAttendPaddedStep =
    "            last = torch.full([1, 3], 7.0, dtype=torch.float64)\n"
    "            y = mlip_dd_test.attend_padded(torch.cat([x, last]))[:-1]\n";

// A file with the model, for as long as the object lives.
struct Written {
  TemporaryFile file{".pt"};
  ModelSpec model;
  explicit Written(const std::string &source)
  {
    write_script(source, file.path());
    model = generic_model(file.path(), kCutoff, kLayers, {"types", "edge_index", "edge_vectors"});
    model.libraries = {MLIP_DD_TEST_OPS};
  }
};

PeriodicSystem bulk(unsigned seed, std::int64_t atoms = 30)
{
  std::mt19937_64 random(seed);
  return random_system(random, atoms, tilted_cell(8, 7, 6, 0.2), 2, 1.3);
}

ModelRun on_four_ranks(const PeriodicSystem &system, const std::vector<OpAdapter> &adapters,
                       HaloMode mode = HaloMode::exchange, bool every_atom = false)
{
  std::mt19937_64 random(4);
  ModelRun run;
  run.owners = random_owners(random, system.size(), 4, {2});
  run.ranks = 4;
  run.mode = mode;
  run.every_atom = every_atom;
  run.evaluations = 2;
  run.options.spec.distribution.custom_ops = adapters;
  return run;
}

void check_same(const ModelResult &found, const ModelResult &expected)
{
  CHECK(difference(expected.forces, std::vector<double>(expected.forces.size())) > 0.01);
  CHECK(difference(found.node_energy, expected.node_energy) < kRoundOff);
  CHECK(difference(found.forces, expected.forces) < kRoundOff);
  CHECK(difference(found.virial, expected.virial) < 10 * kRoundOff);
}

// Loads the library before TorchScript that uses it is compiled.
struct Loaded {
  Loaded() { load_operator_libraries({MLIP_DD_TEST_OPS}); }
} const loaded;

}    // namespace

TEST_CASE("each adapter gives the numbers of one rank, in each way of holding rows")
{
  struct Way {
    std::string step;
    OpAdapter adapter;
    HaloMode mode;
    bool every_atom;
  };
  const std::vector<Way> ways{
      {kMutualStep, kMutual, HaloMode::exchange, false},
      {kMutualStep, kMutual, HaloMode::padded, false},
      {kMutualStep, kMutual, HaloMode::exchange, true},
      {kMutualStep, kMutual, HaloMode::padded, true},
      {kMomentsStep, kMoments, HaloMode::exchange, false},
      {kMomentsStep, kMoments, HaloMode::padded, false},
      {kMomentsStep, kMoments, HaloMode::wide, false},
      {kAttendStep, kAttend, HaloMode::exchange, true},
      {kAttendPaddedStep, kAttendPadded, HaloMode::exchange, true},
  };
  const PeriodicSystem system = bulk(71);
  for (const Way &way : ways) {
    INFO(way.adapter.op << ", mode " << static_cast<int>(way.mode)
                        << (way.every_atom ? ", every atom" : ""));
    const Written written(layers_of(way.step));
    const ModelResult dense = run_model(written.model, system, system, dense_run(system));
    const ModelRun run = on_four_ranks(system, {way.adapter}, way.mode, way.every_atom);
    check_same(run_model(written.model, system, system, run), dense);
  }
}

TEST_CASE("an adapter left out or halved gives other numbers: the comparison can fail")
{
  const PeriodicSystem system = bulk(71);
  // Padded rows counted on several ranks.
  const Written moments(layers_of(kMomentsStep));
  const ModelResult dense = run_model(moments.model, system, system, dense_run(system));
  const OpAdapter whole{kMoments.op, {}, kMoments.output_transforms};
  const ModelResult alone =
      run_model(moments.model, system, system, on_four_ranks(system, {whole}, HaloMode::padded));
  CHECK(difference(alone.forces, dense.forces) > 1e-3);
  // Without any, the operator is looked into, and its sum over all rows found.
  CHECK_THROWS_WITH(run_model(moments.model, system, system, on_four_ranks(system, {})),
                    contains("aten::sum"));
  const Written mutual(layers_of(kMutualStep));
  const OpAdapter kept{kMutual.op, kMutual.arg_transforms, {{0, kSlice}}};
  const ModelResult unscattered =
      run_model(mutual.model, system, system, on_four_ranks(system, {kept}));
  CHECK(difference(unscattered.forces,
                   run_model(mutual.model, system, system, dense_run(system)).forces) > 1e-3);
}

TEST_CASE("an adapter of one of torch's operators goes before our own handling of it")
{
  // Rows added into both ends at once, by an index that is known: once as we find it, once as said.
  const std::string step =
      "            t = x.index_select(0, senders)\n"
      "            y = torch.zeros_like(x).index_add(0, receivers, w.unsqueeze(1) * t)\n";
  const PeriodicSystem system = bulk(72);
  const Written written(layers_of(step));
  const ModelResult dense = run_model(written.model, system, system, dense_run(system));
  const OpAdapter select{"aten::index_select", {{0, ArgTransform::GatherInputs}}, {}};
  for (const auto &adapters : {std::vector<OpAdapter>{}, {select}}) {
    const ModelRun run = on_four_ranks(system, adapters);
    const ModelResult found = run_model(written.model, system, system, run);
    check_same(found, dense);
    CHECK(found.traffic.gathers == 4);    // two layers, two evaluations
  }
}

TEST_CASE("a sum that every rank consumes in full has its gradient already")
{
  // Forces made inside, from a total that all ranks compute alike.
  const std::string source = R"(
    def forward(self, types, edge_index, positions, edge_unit_shifts, cell):
        positions.requires_grad_(True)
        r = positions[edge_index[1]] - positions[edge_index[0]] + edge_unit_shifts @ cell
        w = (1.0 - (r * r).sum(1) / 9.0).clamp(min=0.0) ** 4
        x = torch.zeros([types.size(0), 1], dtype=torch.float64).index_add(0, edge_index[0], w.unsqueeze(1))
        a, b = mlip_dd_test.moments(x)
        total = torch.tanh(0.1 * a) + 0.1 * b
        g = torch.autograd.grad([total.sum()], [positions], retain_graph=True)[0]
        assert g is not None
        return x.squeeze(1), -g, torch.zeros([3, 3], dtype=torch.float64)
)";
  const PeriodicSystem system = bulk(73);
  Written written(source);
  written.model.inputs = {};
  for (const char *role : {"types", "edge_index", "positions", "edge_unit_shifts", "cell"})
    written.model.inputs[role] = role;
  written.model.outputs = {{"node_energy", "0"}, {"forces", "1"}, {"virial", "2"}};
  ModelRun dense = dense_run(system);
  dense.node_virial = false;
  const ModelResult expected = run_model(written.model, system, system, dense);
  const auto with = [&](const OutputTransform &sum) {
    const OpAdapter adapter{kMoments.op, kMoments.arg_transforms, {{0, sum}, {1, sum}}};
    ModelRun run = on_four_ranks(system, {adapter});
    run.node_virial = false;
    return run_model(written.model, system, system, run);
  };
  CHECK(difference(expected.forces, std::vector<double>(expected.forces.size())) > 0.01);
  CHECK(difference(with(kReplicatedSum).forces, expected.forces) < kRoundOff);
  // Without the flag three ranks with atoms add their equal gradients.
  std::vector<double> thrice = expected.forces;
  for (double &force : thrice) force *= 3.0;
  CHECK(difference(with(kSum).forces, thrice) < kRoundOff);
}

TEST_CASE("an operator that nobody describes is refused with its line, or looked into")
{
  const PeriodicSystem system = bulk(74);
  const Written mutual(layers_of(kMutualStep));
  CHECK_THROWS_WITH(run_model(mutual.model, system, system, on_four_ranks(system, {})),
                    contains("mlip_dd_test::mutual") && contains("/core/custom_ops") &&
                        contains("y = mlip_dd_test.mutual"));
  const Written composite(
      layers_of("            y = mlip_dd_test.mutual_composite(x, w, edge_index)\n"));
  const ModelResult dense = run_model(composite.model, system, system, dense_run(system));
  check_same(run_model(composite.model, system, system, on_four_ranks(system, {})), dense);
  check_same(dense, run_model(mutual.model, system, system, dense_run(system)));
}

TEST_CASE("adapters that fit no operator, or not this one, are refused with the cure")
{
  const PeriodicSystem system = bulk(75, 12);
  struct Refused {
    OpAdapter adapter;
    const char *said, *cure;
    std::string step = kMutualStep;
  };
  const auto gather = ArgTransform::GatherInputs;
  const std::vector<Refused> refused{
      {{"mlip_dd_test::mutuel", {{0, gather}}, {}}, "mutuel", "\"mlip_dd_test::mutual\""},
      {{"no_library::op", {{0, gather}}, {}}, "no_library::op", "/model/libraries"},
      {{kMutual.op, {{5, gather}}, {}}, "lacks", "from 0"},
      {{kMutual.op, {{0, gather}}, {{1, kScatter}}}, "lacks", "from 0"},
      {{"mlip_dd_test::add_into", {{0, gather}}, {}}, "writes into", "returns a new tensor"},
      {{kMutual.op, {{1, gather}}, {{0, kScatter}}}, "gather_inputs", "/core/custom_ops"},
      {{kMoments.op, {}, {{0, kScatter}}}, "scatter_outputs", "/core/custom_ops", kMomentsStep},
      {{kMoments.op, {}, {{0, kSlice}}}, "slice_outputs_owned", "/core/custom_ops", kMomentsStep},
  };
  for (const Refused &r : refused) {
    INFO(r.said << ", " << r.cure);
    const Written written(layers_of(r.step));
    CHECK_THROWS_WITH(run_model(written.model, system, system, on_four_ranks(system, {r.adapter})),
                      contains(r.said) && contains(r.cure));
  }
  const Written written(layers_of(kMutualStep));
  const OpAdapter other{kMutual.op, {{0, gather}}, {}};
  CHECK_THROWS_WITH(
      run_model(written.model, system, system, on_four_ranks(system, {kMutual, other})),
      contains("disagree"));
}

TEST_CASE("a library that is missing, or is none, is named")
{
  const PeriodicSystem system = bulk(75, 12);
  Written written(layers_of(kMutualStep));
  written.model.libraries = {"/no/such/libops.so"};
  CHECK_THROWS_WITH(run_model(written.model, system, system, dense_run(system)),
                    contains("/no/such/libops.so") && contains("/model/libraries"));
  written.model.libraries = {written.file.path()};
  CHECK_THROWS_WITH(run_model(written.model, system, system, dense_run(system)),
                    contains("cannot be loaded") && contains(written.file.path()));
}
