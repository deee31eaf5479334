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
  bool intercept = true;
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
      if (setting.intercept) {
        const InterceptionGuard guard(interception);
        node_energy = module.forward({types, edge_index, vectors}).toTensor();
      } else {
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
    def quiet(self, x, senders):
        torch.set_grad_enabled(False)
        sent = 2.0 * x[senders]
        torch.set_grad_enabled(True)
        return sent

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
      {"take of 1-D features",
       "torch.stack([x[:, 0].take(senders), x[:, 1].take(senders), x[:, 2].take(senders)], 1)", ""},
      {"senders together with another index",
       "torch.stack([x[senders, torch.full_like(senders, 0)], x[senders, torch.full_like(senders, "
       "1)], x[senders, 2 * torch.ones_like(senders)]], 1)",
       ""},
      {"the whole edge index", "x[edge_index][1]", ""},
      {"the whole edge index in one row",
       "x.index_select(0, edge_index.flatten())[edge_index.size(1):]", ""},
      {"a transposed copy", "x[senders]",
       "        senders = edge_index.t().contiguous()[:, 1].contiguous()\n"},
      {"rows in another order", "x[senders]",
       "        senders = edge_index[torch.tensor([1, 0])][0]\n"},
      {"rows flipped", "x[senders]", "        senders = edge_index.flip(0)[0]\n"},
      {"edges in another order", "x[senders]",
       "        order = torch.argsort(w[:, 0].detach(), descending=True)\n"
       "        w = w[order]\n        senders = senders[order]\n        receivers = "
       "receivers.index_select(0, order)\n"},
      {"edges by a sorted list of receivers", "x[senders]",
       "        back, order = torch.sort(receivers.flip(0), stable=True)\n"
       "        w = w.flip(0)[order]\n        senders = senders.flip(0)[order]\n        receivers "
       "= "
       "back\n"},
      {"edges in two halves joined again", "x[senders]",
       "        half = senders.size(0) // 2\n        senders = torch.cat([senders[:half], "
       "senders[half:]])\n"},
      {"a stack of both rows", "x[senders]",
       "        senders = torch.stack([receivers, senders])[1]\n"},
      {"without gradients beside", "x[senders] + 0.0 * quiet",
       "        quiet = self.quiet(x, senders)\n"},
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
    // Reading column by column is three gathers per layer.
    const std::string expression = way.gather;
    const bool columns = expression.rfind("torch.stack", 0) == 0;
    const bool twice = expression.find("quiet") != std::string::npos;
    CHECK(result.gathers == (columns ? 6 : twice ? 4 : 2));
  }
}

TEST_CASE("without the exchange the numbers are wrong: the comparison can fail")
{
  // Reading owned rows only, by clamping the index, is all that a model can do that is not
  // intercepted.
  const PeriodicSystem system = bulk(31);
  std::mt19937_64 random(5);
  const auto owners = random_owners(random, system.size(), 4);
  const std::string source = two_layers("x[(senders + 0).clamp(max=x.size(0) - 1)]");
  Setting alone;
  alone.intercept = false;
  const Result dense = run_decomposed(source, system, std::vector<int>(owners.size(), 0), 1, alone);
  const Result wrong = run_decomposed(source, system, owners, 4, alone);
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

// Two layers in which messages go to `index`; ADD is how they are added to z, [n, 3], from m, [E,
// 3].
std::string adding(const std::string &add, const std::string &index)
{
  return R"(
    def forward(self, types, edge_index, edge_vectors):
        receivers, senders = edge_index[0], edge_index[1]
        target = )" +
         index + R"(
        w = torch.exp(-0.3 * (edge_vectors * edge_vectors).sum(1)).unsqueeze(1)
        x = (types.to(edge_vectors.dtype).unsqueeze(1) + 1.0) * torch.tensor([[0.3, -0.2, 0.5]], dtype=torch.float64)
        for layer in range(2):
            m = w * x[receivers] * x[senders] + 0.1 * edge_vectors
            z = torch.full_like(x, 0.25)
            )" +
         add + R"(
            x = x + torch.tanh(z)
        return (x * x).sum(1)
)";
}

TEST_CASE("each way of adding rows of edges, into receivers and into senders")
{
  const std::vector<const char *> ways{
      "z = z.index_add(0, target, m)",
      "z = z.index_add(0, target, m, alpha=0.5)",
      "z.index_add_(0, target, m)",
      "z = z.scatter_add(0, target.unsqueeze(1).expand(-1, 3), m)",
      "z.scatter_add_(0, target.unsqueeze(1).expand(-1, 3), m)",
      "z.t().scatter_add_(1, target.unsqueeze(0).expand(3, -1), m.t())",
      "z = z.scatter_reduce(0, target.unsqueeze(1).expand(-1, 3), m, 'sum')",
      "z.scatter_reduce_(0, target.unsqueeze(1).expand(-1, 3), m, 'sum')",
      "z = z.index_put([target], m, accumulate=True)",
      "z.index_put_([target], m, accumulate=True)",
      "z = z.index_put([target, torch.zeros_like(target)], m[:, 0], accumulate=True)",
      "z = torch.stack([z[:, 0].index_add(0, target, m[:, 0]), z[:, 1], z[:, 2].index_add(0, "
      "target, "
      "m[:, 2])], 1)",
  };
  const PeriodicSystem system = bulk(34);
  std::mt19937_64 random(10);
  const auto owners = random_owners(random, system.size(), 4, {1});
  for (const char *way : ways)
    for (const char *index :
         {"receivers", "senders", "edge_index.clone()[1].to(torch.int32).to(torch.int64)"}) {
      INFO(way << " by " << index);
      check_same(adding(way, index), system, owners, 4);
      CHECK(largest(run_decomposed(adding(way, index), system, owners, 4).gradient_sum) > 0.01);
    }
  // Into both ends at once.
  const std::string both = "z = z.index_add(0, edge_index.reshape(-1), torch.cat([m, -0.5 * m]))";
  check_same(adding(both, "senders"), system, owners, 4);
  // Segments follow the order of edges, which is by receiver.
  check_same(adding("z = z + torch.segment_reduce(m, 'sum', lengths=torch.bincount(receivers, "
                    "minlength=x.size(0)))",
                    "receivers"),
             system, random_owners(random, system.size(), 4), 4);
  for (const char *reduce : {"amax", "mean", "prod"}) {
    INFO(reduce);
    const std::string way = "z = z.scatter_reduce(0, target.unsqueeze(1).expand(-1, 3), m, '" +
                            std::string(reduce) + "', include_self=False)";
    check_same(adding(way, "receivers"), system, owners, 4);
    CHECK_THROWS_WITH(run_decomposed(adding(way, "senders"), system, owners, 4),
                      contains("senders") && contains("aten::scatter_reduce") &&
                          contains("z.scatter_reduce(0, target"));
  }
}

TEST_CASE("integers, bools and types of senders travel as they are")
{
  const std::string source = R"(
    def forward(self, types, edge_index, edge_vectors):
        receivers, senders = edge_index[0], edge_index[1]
        w = torch.exp(-0.3 * (edge_vectors * edge_vectors).sum(1))
        kind = types[senders]
        small = types.to(torch.int32).index_select(0, senders)
        heavy = (types > 0)[senders]
        table = torch.tensor([[0.3, -0.7], [0.2, 1.1]], dtype=torch.float64)
        pair = table[types[receivers], kind]
        neighbours = torch.zeros(types.size(0), dtype=torch.int64).index_add(0, receivers, 1 + kind)
        z = pair * w * (1.0 + small.to(torch.float64)) + torch.where(heavy, w, 0.5 * w)
        return torch.zeros_like(neighbours, dtype=torch.float64).index_add(0, receivers, z * neighbours[senders])
)";
  const PeriodicSystem system = bulk(35);
  std::mt19937_64 random(11);
  const auto owners = random_owners(random, system.size(), 3);
  check_same(source, system, owners, 3);
  CHECK(run_decomposed(source, system, owners, 3).gathers == 4);
}

TEST_CASE("a model that differentiates inside its forward, with and without a graph of it")
{
  const PeriodicSystem system = bulk(36);
  std::mt19937_64 random(12);
  const auto owners = random_owners(random, system.size(), 4, {3});
  for (const char *create : {"False", "True"}) {
    INFO("create_graph=" << create);
    // The energies returned hold what the model found to be its own gradient, so a wrong adjoint
    // inside shows in them.
    const std::string source = std::string(R"(
    def forward(self, types, edge_index, edge_vectors):
        receivers, senders = edge_index[0], edge_index[1]
        w = torch.exp(-0.3 * (edge_vectors * edge_vectors).sum(1)).unsqueeze(1)
        x = (types.to(edge_vectors.dtype).unsqueeze(1) + 1.0) * torch.tensor([[0.3, -0.2, 0.5]], dtype=torch.float64)
        for layer in range(2):
            x = x + torch.tanh(torch.zeros_like(x).index_add(0, receivers, w * x[senders]))
        energy = (x * x).sum(1)
        inside = torch.autograd.grad([energy.sum()], [edge_vectors], retain_graph=True, create_graph=)") +
                               create + R"()[0]
        assert inside is not None
        return energy + torch.zeros_like(energy).index_add(0, receivers, inside.detach()[:, 0])
)";
    check_same(source, system, owners, 4);
  }
}

TEST_CASE("an index computed from senders is refused where it is used, with operator and line")
{
  const PeriodicSystem system = bulk(34);
  std::mt19937_64 random(10);
  const auto owners = random_owners(random, system.size(), 2);
  struct Refused {
    const char *line, *said;
  };
  const std::vector<Refused> refused{
      {"return x[(senders + 0).clamp(max=x.size(0) - 1)] * 1.0", "aten::index"},
      {"return x.index_select(0, torch.remainder(senders, x.size(0))) * 1.0", "aten::index_select"},
      {"return x[(senders.to(torch.float64) * 0.5).to(torch.int64)] * 1.0", "aten::index"},
      {"return x.index_add(0, torch.where(senders > 2, senders, receivers), w)", "aten::index_add"},
      {"return x.index_put([torch.minimum(senders, receivers)], w, accumulate=True)",
       "aten::index_put"},
      {"return x[edge_index[0].add_(1) - 1] * 1.0", "in place"},
      {"return x.index_copy(0, senders, w)", "replace"},
      {"return x.index_put([senders], w)", "replace"},
      {"return torch.bincount(senders) * 1.0", "aten::bincount"},
      {"return torch.sparse_coo_tensor(edge_index, w, [x.size(0), x.size(0)]).to_dense().sum(1)",
       "sparse"},
  };
  for (const Refused &r : refused) {
    INFO(r.line);
    const std::string source = std::string(R"(
    def forward(self, types, edge_index, edge_vectors):
        receivers, senders = edge_index[0], edge_index[1]
        w = (edge_vectors * edge_vectors).sum(1)
        x = torch.zeros(types.size(0), dtype=torch.float64)
        )") + r.line + "\n";
    CHECK_THROWS_WITH(run_decomposed(source, system, owners, 2),
                      contains(r.said) && contains(std::string(r.line).substr(7, 12)));
  }
  // Computed from receivers alone: owned rows, in other units.
  check_same(R"(
    def forward(self, types, edge_index, edge_vectors):
        w = torch.exp(-0.3 * (edge_vectors * edge_vectors).sum(1))
        slot = edge_index[0] * 2 + types[edge_index[1]]
        table = torch.zeros(2 * types.size(0), dtype=torch.float64).index_add(0, slot, w)
        return (table.view(-1, 2) ** 2).sum(1)
)",
             system, owners, 2);
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
