// If these fail, an unmodified model either misses an exchange (wrong numbers on several ranks),
// makes one that nobody else makes (a hang), or exchanges what is not a node feature.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <random>
#include <string>

#include "base/error.h"
#include "catch.h"
#include "comm/thread_communicator.h"
#include "graph/build.h"
#include "halo/halo_exchange.h"
#include "intercept/interception.h"
#include "support/script.h"
#include "support/virtual_system.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kCutoff = 3.0;
// Sums over some hundred edges of numbers of order one, in float64.
constexpr double kRoundOff = 1e-11;

struct Result {
  double energy = 0.0;
  at::Tensor node_energy;      // [n] by system atom
  at::Tensor gradient_sum;     // [n, 3]: sum of edge gradients at each receiver
  std::int64_t gathers = 0;    // of one rank
};

struct Setting {
  double selection_cutoff = kCutoff;    // edges shorter than this are given to the model
  bool keep_constant_features = false;
  int evaluations = 1;
};

// Runs forward(types, edge_index, edge_vectors) -> [n] on virtual ranks and collects by system
// atom.
Result run_decomposed(const std::string &source, const PeriodicSystem &system,
                      const std::vector<int> &owners, int ranks, const Setting &setting = {})
{
  Result result;
  result.node_energy = at::zeros({system.size()}, at::kDouble);
  result.gradient_sum = at::zeros({system.size(), 3}, at::kDouble);
  run_virtual_ranks(ranks, [&](Communicator &communicator) {
    const torch::jit::GraphOptimizerEnabledGuard unoptimised(false);
    torch::jit::Module module = scripted(source);
    VirtualRank view(system, owners, communicator.rank(), kCutoff + 0.5);
    AtomGraph graph;
    HaloExchange exchange(communicator);
    exchange.set_plan(
        build_graph(communicator, view.atoms(), view.neighbours(), {kCutoff, 1}, graph));
    select_edges(graph, view.step().positions, setting.selection_cutoff);
    FeatureCache cache;
    for (int k = 0; k < setting.evaluations; ++k) {
      at::Tensor types = at::empty({graph.n_owned}, at::kLong);
      for (std::int64_t row = 0; row < graph.n_owned; ++row)
        types[row] = graph.types[static_cast<std::size_t>(row)];
      const at::Tensor vectors =
          at::from_blob(graph.vectors.data(), {graph.n_edges(), 3}, at::kDouble)
              .clone()
              .requires_grad_(true);
      const at::Tensor edge_index = make_edge_index(graph.receivers, graph.senders);
      InterceptionOptions options;
      options.keep_constant_features = setting.keep_constant_features;
      Interception interception(exchange, cache, edge_index, options);
      at::Tensor node_energy;
      {
        const InterceptionGuard guard(interception);
        node_energy = module.forward({types, edge_index, vectors}).toTensor();
      }
      const at::Tensor energy = node_energy.sum();
      std::vector<at::Tensor> roots{energy}, seeds{at::ones_like(energy)}, leaves{vectors};
      if (interception.token_root().grad_fn()) {
        roots.push_back(interception.token_root());
        seeds.push_back(at::zeros_like(roots.back()));
        leaves.push_back(interception.token_leaf());
      }
      at::Tensor gradient = at::zeros_like(vectors);
      if (energy.requires_grad() || roots.size() > 1) {
        if (!energy.requires_grad()) {
          roots.erase(roots.begin());
          seeds.erase(seeds.begin());
        }
        const auto gradients = torch::autograd::grad(roots, leaves, seeds, false, false, true);
        if (gradients[0].defined()) gradient = gradients[0];
      }
      if (k + 1 < setting.evaluations) continue;
      // Different ranks write different rows.
      for (std::int64_t row = 0; row < graph.n_owned; ++row)
        result.node_energy[view.global(row)] = node_energy.detach()[row].item<double>();
      for (std::size_t e = 0; e < graph.receivers.size(); ++e)
        result.gradient_sum[view.global(graph.receivers[e])] +=
            gradient[static_cast<std::int64_t>(e)];
      if (communicator.rank() == 0) result.gathers = exchange.traffic().gathers;
    }
  });
  result.energy = result.node_energy.sum().item<double>();
  return result;
}

double largest(const at::Tensor &tensor)
{
  return tensor.numel() ? tensor.abs().max().item<double>() : 0.0;
}

void check_same(const std::string &source, const PeriodicSystem &system,
                const std::vector<int> &owners, int ranks, const Setting &setting = {})
{
  const Result dense =
      run_decomposed(source, system, std::vector<int>(owners.size(), 0), 1, setting);
  const Result decomposed = run_decomposed(source, system, owners, ranks, setting);
  CHECK(largest(dense.node_energy - decomposed.node_energy) < kRoundOff);
  CHECK(largest(dense.gradient_sum - decomposed.gradient_sum) < kRoundOff);
}

// Two layers; GATHER is how the layer reads its senders' features.
std::string two_layers(const std::string &gather, const std::string &prepare = "")
{
  return R"(
    def layer(self, x, edge_index, w):
        receivers = edge_index[0]
        senders = edge_index[1]
)" + prepare +
         R"(
        sent = )" +
         gather + R"(
        return x + torch.tanh(torch.zeros_like(x).index_add(0, receivers, w * sent))

    def forward(self, types, edge_index, edge_vectors):
        squared = (edge_vectors * edge_vectors).sum(1)
        w = torch.exp(-0.3 * squared).unsqueeze(1)
        x = (types.to(edge_vectors.dtype).unsqueeze(1) + 1.0) * torch.tensor([[0.3, -0.2, 0.5]], dtype=torch.float64)
        x = self.layer(x, edge_index, w)
        x = self.layer(x, edge_index, w)
        return (x * x).sum(1)
)";
}

PeriodicSystem bulk(unsigned seed, std::int64_t atoms = 40)
{
  std::mt19937_64 random(seed);
  return random_system(random, atoms, tilted_cell(8, 7, 9, 0.2), 2, 1.3);
}

}    // namespace

TEST_CASE("each way of reading senders' features is exchanged, forward and backward")
{
  struct Way {
    const char *name, *gather, *prepare;
  };
  const std::vector<Way> ways{
      {"x[senders]", "x[senders]", ""},
      {"index_select", "x.index_select(0, senders)", ""},
      {"negative dimension", "x.t().index_select(-1, senders).t()", ""},
      {"second dimension", "x.t()[:, senders].t()", ""},
      {"gather with an expanded index", "torch.gather(x, 0, senders.unsqueeze(1).expand(-1, 3))",
       ""},
      {"embedding", "torch.embedding(x, senders)", ""},
      {"1-D features", "torch.stack([x[:, 0][senders], x[:, 1][senders], x[:, 2][senders]], 1)",
       ""},
      {"a copy of the edge index", "x[senders]", "        senders = edge_index.clone()[1]\n"},
      {"a cast of the senders", "x[senders]",
       "        senders = edge_index[1].to(torch.int32).to(torch.int64)\n"},
      {"a cast of the edge index", "x[senders]",
       "        senders = edge_index.to(torch.int32).to(torch.int64)[1]\n"},
      {"unbind", "x[senders]", "        receivers, senders = edge_index.unbind(0)\n"},
      {"edges chosen by a mask", "x[senders]",
       "        keep = w[:, 0] > 0.2\n        senders = edge_index[:, keep][1]\n"
       "        receivers = edge_index[:, keep][0]\n        w = w[keep]\n"},
      {"senders chosen by a mask", "x[senders]",
       "        keep = w[:, 0] > 0.2\n        senders = senders[keep]\n"
       "        receivers = receivers[keep]\n        w = w[keep]\n"},
  };
  const PeriodicSystem system = bulk(31);
  std::mt19937_64 random(5);
  const auto owners = random_owners(random, system.size(), 4, {2});
  for (const Way &way : ways) {
    INFO(way.name);
    const std::string source = two_layers(way.gather, way.prepare);
    check_same(source, system, owners, 4);
    const Result result = run_decomposed(source, system, owners, 4);
    CHECK(largest(result.gradient_sum) > 0.01);
    // The 1-D way reads three times per layer.
    CHECK(result.gathers == (std::string(way.name) == "1-D features" ? 6 : 2));
  }
}

TEST_CASE("without the exchange the numbers are wrong: the comparison can fail")
{
  // Reading owned rows only, by clamping the index, is what a model would do that is not
  // intercepted.
  const PeriodicSystem system = bulk(31);
  std::mt19937_64 random(5);
  const auto owners = random_owners(random, system.size(), 4);
  const std::string source = two_layers("x[(senders + 0).clamp(max=x.size(0) - 1)]");
  const Result dense = run_decomposed(source, system, std::vector<int>(owners.size(), 0), 1);
  const Result wrong = run_decomposed(source, system, owners, 4);
  CHECK(wrong.gathers == 0);
  CHECK(largest(dense.node_energy - wrong.node_energy) > 0.01);
}

TEST_CASE("gathers by receiver, of types, and of edge features are left alone")
{
  const std::string source = R"(
    def forward(self, types, edge_index, edge_vectors):
        w = torch.exp(-0.3 * (edge_vectors * edge_vectors).sum(1))
        order = torch.argsort(w.detach())
        table = torch.tensor([0.3, 0.7], dtype=torch.float64)
        own = table[types][edge_index[0]]
        same = w[order][torch.argsort(order)]
        return torch.zeros(types.size(0), dtype=torch.float64).index_add(0, edge_index[0], own * same)
)";
  const PeriodicSystem system = bulk(32);
  std::mt19937_64 random(6);
  const auto owners = random_owners(random, system.size(), 3);
  check_same(source, system, owners, 3);
  CHECK(run_decomposed(source, system, owners, 3).gathers == 0);
}

TEST_CASE("as many atoms as edges, one atom, one edge and no edge do not confuse the roles")
{
  const std::string source = two_layers("x[senders]");
  std::mt19937_64 random(7);
  Cell vacuum = orthogonal_cell(40, 40, 40);
  vacuum.periodic = {false, false, false};
  const auto line = [&](std::vector<double> x) {
    PeriodicSystem system;
    system.cell = vacuum;
    for (double value : x) {
      system.positions.insert(system.positions.end(), {value, 1.0, 1.0});
      system.types.push_back(static_cast<std::int32_t>(system.types.size() % 2));
    }
    return system;
  };
  // A ring of n atoms in a periodic line has 2n edges; three in a row with one far away: 4 atoms, 4
  // edges.
  check_same(source, line({1.0, 3.0, 5.0, 20.0}), {0, 1, 0, 1}, 2);
  check_same(source, line({1.0, 3.0, 5.0, 20.0}), {0, 1, 2, 2}, 3);
  check_same(source, line({1.0, 3.0}), {0, 1}, 2);              // one edge each
  check_same(source, line({1.0, 3.0}), {1, 1}, 3);              // ranks without atoms
  check_same(source, line({1.0, 11.0, 21.0}), {0, 1, 1}, 2);    // no edge at all
  PeriodicSystem single = line({1.0});
  single.cell = orthogonal_cell(2.0, 2.2, 2.4);
  check_same(source, single, {1}, 2);    // one atom and its images
}

TEST_CASE(
    "a rank whose edges are all beyond the cutoff still takes part in its neighbours' exchanges")
{
  // The plan reaches to 3 A; only edges shorter than 1.6 A are given, so that some ranks that share
  // rows have none.
  Cell vacuum = orthogonal_cell(40, 40, 40);
  vacuum.periodic = {false, false, false};
  PeriodicSystem system;
  system.cell = vacuum;
  for (double x : {1.0, 2.5, 4.6, 6.8}) {
    system.positions.insert(system.positions.end(), {x, 1.0, 1.0});
    system.types.push_back(0);
  }
  Setting setting;
  setting.selection_cutoff = 1.6;
  for (const char *prepare :
       {"",
        "        keep = w[:, 0] > 0.0\n        senders = edge_index[:, keep][1]\n"
        "        receivers = edge_index[:, keep][0]\n        w = w[keep]\n"}) {
    check_same(two_layers("x[senders]", prepare), system, {0, 1, 2, 3}, 4, setting);
    check_same(two_layers("x[senders]", prepare), system, {0, 0, 1, 1}, 2, setting);
  }
}

TEST_CASE("features of types alone are fetched once, when the family says that they are such")
{
  const PeriodicSystem system = bulk(33);
  std::mt19937_64 random(9);
  const auto owners = random_owners(random, system.size(), 3);
  const std::string source = two_layers("x[senders]");
  Setting setting;
  setting.evaluations = 4;
  CHECK(run_decomposed(source, system, owners, 3, setting).gathers == 8);
  setting.keep_constant_features = true;
  CHECK(run_decomposed(source, system, owners, 3, setting).gathers == 5);
  check_same(source, system, owners, 3, setting);
}

TEST_CASE("adding into senders is refused, with the operator's name and the cure")
{
  const PeriodicSystem system = bulk(34);
  std::mt19937_64 random(10);
  const auto owners = random_owners(random, system.size(), 2);
  for (const char *scatter :
       {"z.index_add(0, edge_index[1], w)", "z.scatter_add(0, edge_index[1], w)",
        "z.scatter_reduce(0, edge_index[1], w, 'sum')",
        "z.index_put([edge_index[1]], w, accumulate=True)"}) {
    const std::string source = std::string(R"(
    def forward(self, types, edge_index, edge_vectors):
        w = (edge_vectors * edge_vectors).sum(1)
        z = torch.zeros(types.size(0), dtype=torch.float64)
        return )") + scatter + "\n";
    CHECK_THROWS_WITH(run_decomposed(source, system, owners, 2),
                      contains("senders") && contains("aten::") && contains("halo wide"));
  }
}

TEST_CASE("interception ends with its guard, also after an error")
{
  const auto self = make_self_communicator();
  HaloExchange exchange(*self);
  FeatureCache cache;
  const at::Tensor edge_index = make_edge_index({0}, {1});
  Interception interception(exchange, cache, edge_index, {});
  try {
    const InterceptionGuard guard(interception);
    CHECK_THROWS_AS(interception.enter(), Error);    // no nesting
    throw std::runtime_error("model failed");
  } catch (const std::runtime_error &) {
  }
  const InterceptionGuard again(interception);
  SUCCEED();
}
