// If these fail, an unmodified model misses an exchange where it reads its senders' features (wrong
// numbers on several ranks), or makes one that nobody needs.
#include <random>
#include <string>

#include "catch.h"
#include "intercept/forward_run.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

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
  const PeriodicSystem system = forward_bulk(31);
  std::mt19937_64 random(5);
  const auto owners = random_owners(random, system.size(), 4, {2});
  for (const Way &way : ways) {
    INFO(way.name);
    const std::string source = two_layers(way.gather, way.prepare);
    check_forward(source, system, owners, 4);
    const ForwardResult result = run_decomposed(source, system, owners, 4);
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
  const PeriodicSystem system = forward_bulk(31);
  std::mt19937_64 random(5);
  const auto owners = random_owners(random, system.size(), 4);
  const std::string source = two_layers("x[(senders + 0).clamp(max=x.size(0) - 1)]");
  ForwardSetting alone;
  alone.intercept = false;
  const ForwardResult dense =
      run_decomposed(source, system, std::vector<int>(owners.size(), 0), 1, alone);
  const ForwardResult wrong = run_decomposed(source, system, owners, 4, alone);
  CHECK(wrong.gathers == 0);
  CHECK(largest(dense.node_energy.sub(wrong.node_energy)) > 0.01);
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
  const PeriodicSystem system = forward_bulk(32);
  std::mt19937_64 random(6);
  const auto owners = random_owners(random, system.size(), 3);
  check_forward(source, system, owners, 3);
  CHECK(run_decomposed(source, system, owners, 3).gathers == 0);
}

TEST_CASE("features of types alone are fetched once, when the family says that they are such")
{
  const PeriodicSystem system = forward_bulk(33);
  std::mt19937_64 random(9);
  const auto owners = random_owners(random, system.size(), 3);
  const std::string source = two_layers("x[senders]");
  ForwardSetting setting;
  setting.evaluations = 4;
  CHECK(run_decomposed(source, system, owners, 3, setting).gathers == 8);
  setting.keep_constant_features = true;
  CHECK(run_decomposed(source, system, owners, 3, setting).gathers == 5);
  check_forward(source, system, owners, 3, setting);
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
  const PeriodicSystem system = forward_bulk(35);
  std::mt19937_64 random(11);
  const auto owners = random_owners(random, system.size(), 3);
  check_forward(source, system, owners, 3);
  CHECK(run_decomposed(source, system, owners, 3).gathers == 4);
}
