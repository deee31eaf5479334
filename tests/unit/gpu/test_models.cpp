// If these fail, a model on a GPU gives other energies, forces or virials than on the CPU, or other
// ones on several ranks than on one.
#include <random>

#include "catch.h"
#include "support/model_run.h"
#include "support/script.h"
#include "support/virtual_system.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

// float64 sums of some hundred terms in another order, relative to the largest.
constexpr double kRoundOff = 1e-11;

// Two rounds of messages with features 5 wide, cutoff 4 A.
constexpr const char *kSource = R"(
    def forward(self, types, edge_index, edge_vectors):
        receivers, senders = edge_index[0], edge_index[1]
        r = torch.sqrt((edge_vectors * edge_vectors).sum(1, True))
        w = (1.0 - r / 4.0) ** 2 * torch.sin(r * self.frequencies)
        h = torch.stack([types.to(w.dtype) + 1.0 + 0.1 * i for i in range(5)], 1)
        for layer in range(2):
            messages = w * h.index_select(0, senders)
            h = torch.tanh(h + torch.zeros_like(h).index_add(0, receivers, messages))
        return (h * h).sum(1)
)";

void check_same(const ModelResult &found, const ModelResult &expected)
{
  double largest = 0.0;
  for (const double force : expected.forces) largest = std::max(largest, std::abs(force));
  REQUIRE(largest > 0.01);
  CHECK(std::abs(found.energy - expected.energy) < kRoundOff * std::abs(expected.energy));
  CHECK(difference(found.forces, expected.forces) < kRoundOff);
  CHECK(difference(found.virial, expected.virial) < kRoundOff * 100);
  CHECK(difference(found.node_virial, expected.node_virial) < kRoundOff * 10);
}

}    // namespace

TEST_CASE("a message-passing model on the GPU is that on the CPU, on one rank and four")
{
  const TemporaryFile file(".pt");
  scripted(kSource, {{"frequencies", at::linspace(0.5, 2.0, 5, at::kDouble)}}).save(file.path());
  ModelSpec model = generic_model(file.path(), 4.0, 2, {"types", "edge_index", "edge_vectors"});
  model.dtype = "float64";
  std::mt19937_64 random(run_seed());
  const PeriodicSystem system = random_system(random, 60, tilted_cell(9, 10, 8, 0.2), 2, 1.6);
  const ModelResult expected = run_model(model, system, system, dense_run(system));
  for (const int ranks : {1, 4})
    for (const HaloMode mode : {HaloMode::exchange, HaloMode::padded, HaloMode::wide}) {
      CAPTURE(ranks, static_cast<int>(mode));
      ModelRun run;
      run.ranks = ranks;
      run.owners = random_owners(random, system.size(), ranks);
      run.mode = mode;
      run.evaluations = 2;
      run.options.device = "cuda";
      check_same(run_model(model, system, system, run), expected);
    }
}
