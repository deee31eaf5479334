// If these fail, a whole model (file, graph, exchanges, backward, forces home) gives other numbers
// on many ranks than on one, or forces that are not the energy's derivative.
#include <filesystem>
#include <random>

#include "base/error.h"
#include "catch.h"
#include "potentials/make_potential.h"
#include "spec/model_spec.h"
#include "support/model_run.h"
#include "support/script.h"
#include "support/virtual_system.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kCutoff = 3.0;
constexpr double kSkin = 0.4;
constexpr int kLayers = 3;
constexpr double kRoundOff = 1e-11;    // float64 sums of some hundred terms of order one

// A message-passing model with vectors, smooth at its cutoff, written to a file like a user's.
ModelSpec toy_model()
{
  static const TemporaryFile kept(".pt");
  const std::string &file = kept.path();
  torch::jit::Module module =
      scripted(R"(
    def forward(self, types, edge_index, edge_vectors):
        receivers, senders = edge_index[0], edge_index[1]
        squared = (edge_vectors * edge_vectors).sum(1)
        w = ((1.0 - squared / 9.0).clamp(min=0.0) ** 4).unsqueeze(1)
        x = torch.stack([types.to(torch.float64) + 0.5, 1.0 - 0.3 * types.to(torch.float64)], 1)
        v = torch.zeros([types.size(0), 2, 3], dtype=torch.float64)
        for layer in range(3):
            sx = x.index_select(0, senders)
            sv = v[senders]
            message = (w * sx).unsqueeze(2) * edge_vectors.unsqueeze(1) + 0.5 * w.unsqueeze(2) * sv
            v = v + torch.zeros_like(v).index_add(0, receivers, message)
            x = x + torch.tanh(torch.zeros_like(x).index_add(0, receivers, w * sx) @ self.mix) + 0.1 * torch.tanh((v * v).sum(2))
        return torch.tanh(0.3 * x).sum(1)
)",
               {{"mix", torch::tensor({{0.4, -0.3}, {0.2, 0.5}}, torch::kDouble)}});
  module.save(file);
  return generic_model(file, kCutoff, kLayers, {"types", "edge_index", "edge_vectors"});
}

ModelResult run(const ModelSpec &model, const PeriodicSystem &system, const PeriodicSystem &moved,
                const std::vector<int> &owners, int ranks, HaloMode mode)
{
  ModelRun how;
  how.owners = owners;
  how.ranks = ranks;
  how.mode = mode;
  how.skin = kSkin;
  return run_model(model, system, moved, how);
}

}    // namespace

TEST_CASE("a model gives the same on 1 to 27 ranks, with any owners, exchanged or wide")
{
  const ModelSpec model = toy_model();
  std::mt19937_64 random(run_seed());
  INFO("seed " << run_seed() << ": repeat with --rng-seed");
  Cell cluster = orthogonal_cell(11, 11, 11);
  cluster.periodic = {false, false, false};
  struct Case {
    std::int64_t atoms;
    Cell cell;
  };
  const std::vector<Case> systems{{50, tilted_cell(9, 8, 10, 0.3)},
                                  {5, orthogonal_cell(2.9, 3.1, 4.0)},
                                  {1, tilted_cell(2.6, 2.4, 2.5, 0.4)},
                                  {25, cluster}};
  for (const Case &c : systems) {
    const PeriodicSystem system = random_system(random, c.atoms, c.cell, 2, 1.2);
    PeriodicSystem moved = system;
    std::uniform_real_distribution<double> small(-0.1, 0.1);
    for (double &x : moved.positions) x += small(random);
    const ModelResult dense =
        run(model, system, moved, std::vector<int>(static_cast<std::size_t>(c.atoms), 0), 1,
            HaloMode::exchange);
    for (const int ranks : {1, 2, 3, 8, 27})
      for (const HaloMode mode : {HaloMode::exchange, HaloMode::wide}) {
        INFO(c.atoms << " atoms, " << ranks << " ranks, "
                     << (mode == HaloMode::wide ? "wide" : "exchange"));
        std::vector<int> empty;
        if (ranks > 2) empty = {1};
        const auto owners = random_owners(random, c.atoms, ranks, empty);
        const ModelResult other = run(model, system, moved, owners, ranks, mode);
        CHECK(std::abs(other.energy - dense.energy) < kRoundOff);
        CHECK(difference(other.node_energy, dense.node_energy) < kRoundOff);
        CHECK(difference(other.forces, dense.forces) < kRoundOff);
        CHECK(difference(other.virial, dense.virial) < kRoundOff);
        // A wide halo's edges are shared out between ranks differently, the sum over atoms is not.
        if (mode == HaloMode::exchange)
          CHECK(difference(other.node_virial, dense.node_virial) < kRoundOff);
      }
    // All atoms of a one-atom crystal feel no force.
    if (c.atoms > 1) CHECK(*std::max_element(dense.forces.begin(), dense.forces.end()) > 1e-3);
    CHECK(std::abs(dense.virial[0]) > 1e-3);
  }
}

TEST_CASE("forces and virial are the energy's derivatives, across ranks")
{
  const ModelSpec model = toy_model();
  std::mt19937_64 random(4);
  const PeriodicSystem system = random_system(random, 30, tilted_cell(7, 7, 8, 0.2), 2, 1.3);
  const auto owners = random_owners(random, 30, 3);
  const ModelResult result = run(model, system, system, owners, 3, HaloMode::exchange);
  constexpr double kStep = 1e-4;
  constexpr double kDifferenceError =
      1e-6;    // step^2 times third derivatives, and round-off over step
  const auto energy_at = [&](const PeriodicSystem &moved) {
    return run(model, system, moved, owners, 3, HaloMode::exchange).energy;
  };
  for (const std::size_t k : {0U, 16U, 47U, 89U}) {
    PeriodicSystem plus = system, minus = system;
    plus.positions[k] += kStep;
    minus.positions[k] -= kStep;
    CHECK(std::abs(result.forces[k] + (energy_at(plus) - energy_at(minus)) / (2 * kStep)) <
          kDifferenceError);
  }
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a; b < 3; ++b) {
      const auto strained = [&](double strain) {
        PeriodicSystem moved = system;
        for (std::size_t i = 0; i < 30; ++i)
          moved.positions[3 * i + b] += strain * system.positions[3 * i + a];
        for (std::size_t v = 0; v < 3; ++v)
          moved.cell.vectors[3 * v + b] += strain * system.cell.vectors[3 * v + a];
        return energy_at(moved);
      };
      CHECK(std::abs(result.virial[3 * a + b] +
                     (strained(kStep) - strained(-kStep)) / (2 * kStep)) < 10 * kDifferenceError);
    }
}

TEST_CASE("model files and names that do not fit are refused before any evaluation")
{
  const auto self = make_self_communicator();
  const auto refusal = [&](ModelSpec model) -> std::string {
    try {
      make_potential(model, {"cpu", 1}, *self, 0);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  const ModelSpec good = toy_model();
  CHECK(refusal(good).empty());
  ModelSpec model = good;
  model.file = "/nonexistent/model.pt";
  CHECK_THAT(refusal(model), contains("/nonexistent/model.pt") && contains("does not exist"));
  model.file = std::filesystem::temp_directory_path().string();
  CHECK_THAT(refusal(model), contains("directory"));
  model = good;
  const TemporaryFile cut(".pt");
  model.file = cut.path();
  std::filesystem::copy_file(good.file, model.file,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(model.file, std::filesystem::file_size(good.file) / 2);
  CHECK_THAT(refusal(model), contains("truncated") && contains(model.file));
  model = good;
  model.inputs["types"] = "typse";
  CHECK_THAT(refusal(model), contains("typse") && contains("edge_vectors"));
  model = good;
  model.inputs.erase("types");
  CHECK_THAT(refusal(model), contains("\"types\""));
  model = good;
  model.dtype = "float32";
  CHECK_THAT(refusal(model), contains("float64"));
  model = good;
  model.family = "sevenet";
  CHECK_THAT(refusal(model), contains("sevenet"));
  model = good;
  model.potential = "magic";
  CHECK_THAT(refusal(model), contains("magic"));
  CHECK_THROWS_WITH(make_potential(good, {"cuda:99", 1}, *self, 0),
                    contains("device cpu") || contains("device cuda"));
}
