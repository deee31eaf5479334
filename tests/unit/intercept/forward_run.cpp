#include "intercept/forward_run.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <random>

#include "catch.h"
#include "comm/thread_communicator.h"
#include "graph/build.h"
#include "halo/halo_exchange.h"
#include "intercept/interception.h"
#include "support/script.h"

namespace mlip_dd::test {

namespace {

// Sums over some hundred edges of numbers of order one, in float64.
constexpr double kRoundOff = 1e-11;

}    // namespace

ForwardResult run_decomposed(const std::string &source, const PeriodicSystem &system,
                             const std::vector<int> &owners, int ranks,
                             const ForwardSetting &setting)
{
  ForwardResult result;
  result.node_energy = at::zeros({system.size()}, at::kDouble);
  result.gradient_sum = at::zeros({system.size(), 3}, at::kDouble);
  run_virtual_ranks(ranks, [&](Communicator &communicator) {
    const torch::jit::GraphOptimizerEnabledGuard unoptimised(false);
    torch::jit::Module module = scripted(source);
    VirtualRank view(system, owners, communicator.rank(), kForwardCutoff + 0.5);
    AtomGraph graph;
    HaloExchange exchange(communicator);
    exchange.set_plan(
        build_graph(communicator, view.atoms(), view.neighbours(), {kForwardCutoff, 1}, graph));
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

void check_forward(const std::string &source, const PeriodicSystem &system,
                   const std::vector<int> &owners, int ranks, const ForwardSetting &setting)
{
  const ForwardResult dense =
      run_decomposed(source, system, std::vector<int>(owners.size(), 0), 1, setting);
  const ForwardResult decomposed = run_decomposed(source, system, owners, ranks, setting);
  CHECK(largest(dense.node_energy - decomposed.node_energy) < kRoundOff);
  CHECK(largest(dense.gradient_sum - decomposed.gradient_sum) < kRoundOff);
}

std::string two_layers(const std::string &gather, const std::string &prepare)
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

PeriodicSystem forward_bulk(unsigned seed, std::int64_t atoms)
{
  std::mt19937_64 random(seed);
  return random_system(random, atoms, tilted_cell(8, 7, 9, 0.2), 2, 1.3);
}

}    // namespace mlip_dd::test
