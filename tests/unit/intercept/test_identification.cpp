// If these fail, interception takes a tensor for what it is not: an exchange that nobody else makes
// (a hang), or numbers of the wrong atoms; or it guesses where it should refuse.
#include <random>
#include <string>

#include "base/error.h"
#include "catch.h"
#include "comm/communicator.h"
#include "halo/halo_exchange.h"
#include "intercept/forward_run.h"
#include "intercept/interception.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

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
  check_forward(source, line({1.0, 3.0, 5.0, 20.0}), {0, 1, 0, 1}, 2);
  check_forward(source, line({1.0, 3.0, 5.0, 20.0}), {0, 1, 2, 2}, 3);
  check_forward(source, line({1.0, 3.0}), {0, 1}, 2);              // one edge each
  check_forward(source, line({1.0, 3.0}), {1, 1}, 3);              // ranks without atoms
  check_forward(source, line({1.0, 11.0, 21.0}), {0, 1, 1}, 2);    // no edge at all
  PeriodicSystem single = line({1.0});
  single.cell = orthogonal_cell(2.0, 2.2, 2.4);
  check_forward(source, single, {1}, 2);    // one atom and its images
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
  ForwardSetting setting;
  setting.selection_cutoff = 1.6;
  for (const char *prepare :
       {"",
        "        keep = w[:, 0] > 0.0\n        senders = edge_index[:, keep][1]\n"
        "        receivers = edge_index[:, keep][0]\n        w = w[keep]\n"}) {
    check_forward(two_layers("x[senders]", prepare), system, {0, 1, 2, 3}, 4, setting);
    check_forward(two_layers("x[senders]", prepare), system, {0, 0, 1, 1}, 2, setting);
  }
}

TEST_CASE("a model that differentiates inside its forward, with and without a graph of it")
{
  const PeriodicSystem system = forward_bulk(36);
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
    check_forward(source, system, owners, 4);
  }
}

TEST_CASE("as many atoms on a rank as numbers in a row of features")
{
  // Three and three atoms, rows of three, and matrices of three by three.
  Cell vacuum = orthogonal_cell(40, 40, 40);
  vacuum.periodic = {false, false, false};
  PeriodicSystem system;
  system.cell = vacuum;
  for (double x : {1.0, 2.5, 4.0, 5.5, 7.0, 8.5}) {
    system.positions.insert(system.positions.end(), {x, 1.0, 1.0});
    system.types.push_back(static_cast<std::int32_t>(system.types.size() % 2));
  }
  for (const char *gather :
       {"x[senders]", "x.t()[:, senders].t()", "x.t().index_select(1, senders).t()",
        "(x @ torch.eye(3, dtype=torch.float64))[senders]",
        "torch.gather(x, 0, senders.unsqueeze(1).expand(-1, 3))"}) {
    INFO(gather);
    check_forward(two_layers(gather), system, {0, 0, 0, 1, 1, 1}, 2);
    CHECK(run_decomposed(two_layers(gather), system, {0, 0, 0, 1, 1, 1}, 2).gathers == 2);
  }
}

TEST_CASE("several index tensors at once: edges of two kinds, and an index of the model's own")
{
  const std::string source = two_layers(
      "near + x[senders]",
      "        close = w[:, 0] > 0.3\n"
      "        order = torch.argsort(x[:, 0].detach())\n"
      "        inverse = torch.argsort(order)\n"
      "        x = x[order][inverse]\n"
      "        pair = edge_index[:, close]\n"
      "        far = edge_index[:, torch.logical_not(close)]\n"
      "        near = torch.zeros_like(x).index_add(0, pair[0], x[pair[1]]).sum(1, keepdim=True)"
      "[receivers]\n"
      "        x = x + 0.1 * torch.tanh(torch.zeros_like(x).index_add(0, far[0], x[far[1]]))\n");
  const PeriodicSystem system = forward_bulk(37);
  std::mt19937_64 random(13);
  const auto owners = random_owners(random, system.size(), 4, {0});
  check_forward(source, system, owners, 4);
}

TEST_CASE("an index computed from senders is refused where it is used, with operator and line")
{
  const PeriodicSystem system = forward_bulk(34);
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
      {"return (torch.arange(x.size(0)).unsqueeze(1) == senders.unsqueeze(0)).to(torch.float64) @ "
       "w",
       "aten::eq"},
      {"return torch.embedding_bag(x.unsqueeze(1), senders, torch.arange(senders.size(0)))[0][:, "
       "0]",
       "aten::_embedding_bag"},
      {"return x.put(senders, w, accumulate=True)", "aten::put"},
      {"return (x.unsqueeze(1) * x.unsqueeze(0))[receivers, senders]", "matrix between atoms"},
      {"return torch.zeros([x.size(0), x.size(0)], dtype=torch.float64).index_put([receivers, "
       "senders], w, accumulate=True).sum(1)",
       "matrix between atoms"},
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
  check_forward(R"(
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
