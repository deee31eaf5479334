// If these fail, a model that sums over the system in its middle (charges that balance, global
// moments) sums one rank's atoms only, counts halo atoms twice, gets forces wrong by a factor, or
// hangs where a rank has no atoms.
#include <ATen/ATen.h>

#include <random>
#include <string>

#include "base/error.h"
#include "catch.h"
#include "comm/thread_communicator.h"
#include "halo/system_sums.h"
#include "support/model_run.h"
#include "support/script_file.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kCutoff = 3.0;
constexpr int kLayers = 2;
constexpr double kRoundOff = 1e-11;    // float64 sums of some hundred terms of order one
// A model's own float32 keeps seven digits of energies of order one, through a few layers.
constexpr double kRoundOff32 = 2e-5;

const std::vector<std::string> kInputs{"types", "edge_index", "edge_vectors", "batch"};

// Charges from one round of messages, balanced to neutrality by a sum over the system (SUM gives
// the [1] row of the system from `values` and `batch`), then another round that reads them, a
// global moment, and a count of atoms.
std::string balanced(const std::string &sum, const std::string &type = "torch.float64")
{
  std::string source = R"(
    def system_sum(self, values, batch, edge_index):
        n = values.size(0)
)" + sum + R"(

    def forward(self, types, edge_index, edge_vectors, batch):
        receivers, senders = edge_index[0], edge_index[1]
        squared = (edge_vectors * edge_vectors).sum(1)
        w = (1.0 - squared / 9.0).clamp(min=0.0) ** 4
        ones = torch.ones(types.size(0), dtype=REAL)
        x = types.to(REAL) + 0.5
        q = torch.tanh(torch.zeros_like(x).index_add(0, receivers, w * x[senders])) + 0.3 * x
        count = self.system_sum(ones, batch, edge_index)
        excess = self.system_sum(q, batch, edge_index) / count
        q = q - excess[batch]
        second = self.system_sum(q * q, batch, edge_index)
        y = torch.zeros_like(q).index_add(0, receivers, w * q[senders])
        return q * y + 0.2 * torch.tanh(second)[batch] * y + 0.1 * excess[batch] ** 2
)";
  for (std::size_t at = source.find("REAL"); at != std::string::npos; at = source.find("REAL"))
    source.replace(at, 4, type);
  return source;
}

struct Way {
  const char *name, *sum;
};
const std::vector<Way> kWays{
    {"index_add", "        return torch.zeros(1, dtype=values.dtype).index_add(0, batch, values)"},
    {"index_add_ into a row that is not zero, scaled",
     "        return torch.ones(1, dtype=values.dtype).index_add_(0, batch, values, alpha=2.0)"},
    {"scatter_add",
     "        return torch.zeros(1, dtype=values.dtype).scatter_add(0, batch, values)"},
    {"scatter_add_ of a wide tensor along its second dimension",
     "        wide = torch.stack([values, 2.0 * values], 0)\n"
     "        total = torch.zeros([2, 1], dtype=values.dtype)\n"
     "        total.scatter_add_(1, batch.unsqueeze(0).expand(2, n), wide)\n"
     "        return (total[0] + total[1]) / 3.0"},
    {"scatter_reduce",
     "        return torch.ones(1, dtype=values.dtype).scatter_reduce(0, batch, "
     "values, 'sum', include_self=False)"},
    {"scatter_reduce_ in place",
     "        return torch.zeros(1, dtype=values.dtype).scatter_reduce_("
     "0, batch, values, 'sum')"},
    {"index_put accumulate",
     "        return torch.zeros(1, dtype=values.dtype).index_put([batch], "
     "values, accumulate=True)"},
    {"a copy and a cast of batch",
     "        return torch.zeros(1, dtype=values.dtype).index_add(0, "
     "batch.clone().to(torch.int32).to(torch.int64), values)"},
    {"over edges, by the system of their receivers and senders",
     "        e = edge_index.size(1)\n"
     "        half = 0.05 * (values[edge_index[0]] + values[edge_index[1]])\n"
     "        one = torch.zeros(1, dtype=values.dtype).index_add(0, batch[edge_index[0]], half)\n"
     "        two = torch.zeros(1, dtype=values.dtype).index_add(0, "
     "batch.index_select(0, edge_index[1]), half)\n"
     "        return 1.0 + one + 0.5 * two"},
    {"counted in integers",
     "        c = torch.zeros(1, dtype=torch.int64).index_add(0, batch, torch.ones(n, "
     "dtype=torch.int64))\n"
     "        b = torch.bincount(batch)\n"
     "        return torch.zeros(1, dtype=values.dtype).index_add(0, batch, values) + 0.1 * (c + "
     "b).to(values.dtype)"},
};

// A file with the model, for as long as the object lives.
struct Written {
  TemporaryFile file{".pt"};
  ModelSpec model;
  explicit Written(const std::string &source, bool single = false)
  {
    write_script(source, file.path(), single);
    model = generic_model(file.path(), kCutoff, kLayers, kInputs);
  }
};

PeriodicSystem bulk(unsigned seed, std::int64_t atoms = 30)
{
  std::mt19937_64 random(seed);
  return random_system(random, atoms, tilted_cell(8, 7, 6, 0.2), 2, 1.3);
}

void check_same(const ModelResult &a, const ModelResult &b, double tolerance)
{
  CHECK(std::abs(a.energy - b.energy) < tolerance * 10);
  CHECK(difference(a.node_energy, b.node_energy) < tolerance);
  CHECK(difference(a.forces, b.forces) < tolerance);
  CHECK(difference(a.virial, b.virial) < tolerance * 10);
}

}    // namespace

TEST_CASE("sums over the system are of all ranks' atoms, in each form, exchanged or wide")
{
  const PeriodicSystem system = bulk(51);
  std::mt19937_64 random(3);
  const auto owners = random_owners(random, system.size(), 4, {0, 2});
  for (const Way &way : kWays) {
    INFO(way.name);
    const Written written(balanced(way.sum));
    const ModelResult dense = run_model(written.model, system, system, dense_run(system));
    CHECK(difference(dense.forces, std::vector<double>(dense.forces.size())) > 0.01);
    for (const HaloMode mode : {HaloMode::exchange, HaloMode::wide}) {
      INFO((mode == HaloMode::wide ? "wide" : "exchange"));
      // Rank 0 and 2 own no atoms; the second evaluation replays what the first recorded.
      for (const int evaluations : {1, 3})
        check_same(run_model(written.model, system, system, {owners, 4, mode, 0.4, evaluations}),
                   dense, kRoundOff);
    }
  }
}

TEST_CASE("without the sum over ranks the numbers are wrong: the comparison can fail")
{
  const PeriodicSystem system = bulk(51);
  std::mt19937_64 random(3);
  const Written written(balanced(kWays[0].sum));
  const ModelResult dense = run_model(written.model, system, system, dense_run(system));
  ModelRun run;
  run.owners = random_owners(random, system.size(), 4);
  run.ranks = 4;
  run.options.spec.system_reductions = false;    // as a spec may ask
  const ModelResult alone = run_model(written.model, system, system, run);
  CHECK(alone.traffic.system_sums == 0);
  CHECK(difference(alone.forces, dense.forces) > 1e-3);
}

TEST_CASE("forces through a sum over the system are the energy's derivatives, on several ranks")
{
  const PeriodicSystem system = bulk(52, 20);
  std::mt19937_64 random(4);
  const Written written(balanced(kWays[0].sum));
  ModelRun run;
  run.owners = random_owners(random, system.size(), 3);
  run.ranks = 3;
  const ModelResult result = run_model(written.model, system, system, run);
  constexpr double kStep = 1e-4;
  constexpr double kDifferenceError = 1e-6;    // step^2 times third derivatives
  for (const std::size_t k : {1U, 17U, 40U}) {
    PeriodicSystem plus = system, minus = system;
    plus.positions[k] += kStep;
    minus.positions[k] -= kStep;
    const double slope = (run_model(written.model, system, plus, run).energy -
                          run_model(written.model, system, minus, run).energy) /
                         (2 * kStep);
    CHECK(std::abs(slope) > 1e-3);
    CHECK(std::abs(result.forces[k] + slope) < kDifferenceError);
  }
}

TEST_CASE("float32 models sum in float64: ranks agree as far as float32 goes")
{
  const PeriodicSystem system = bulk(53);
  std::mt19937_64 random(5);
  const Written written(balanced(kWays[0].sum, "torch.float32"), true);
  const ModelResult dense = run_model(written.model, system, system, dense_run(system));
  ModelRun run;
  run.owners = random_owners(random, system.size(), 3, {1});
  run.ranks = 3;
  check_same(run_model(written.model, system, system, run), dense, kRoundOff32);
}

TEST_CASE("sums of types alone are made once, where the family keeps such features")
{
  run_virtual_ranks(3, [](Communicator &communicator) {
    SystemSums sums(communicator);
    const int rank = communicator.rank();
    for (int evaluation = 0; evaluation < 4; ++evaluation) {
      if (evaluation == 2) sums.forget_constants();
      if (rank == 1) {
        sums.replay();
        continue;
      }
      sums.begin();
      const bool fresh = evaluation % 2 == 0;
      if (fresh) {
        const at::Tensor count = sums.sum(at::full({1}, rank + 1, at::kLong), true);
        if (count.item<std::int64_t>() != 4) throw std::runtime_error("integer sum");
      }
      const at::Tensor total = sums.sum(at::full({2, 3}, 0.5 + rank, at::kDouble));
      if (total[1][2].item<double>() != 3.0) throw std::runtime_error("float sum");
      const at::Tensor complex =
          sums.sum(at::complex(at::full({2}, 1.0), at::full({2}, 2.0 * rank)));
      if (at::imag(complex)[0].item<double>() != 4.0) throw std::runtime_error("complex sum");
      sums.end();
    }
    // A constant, a float and a complex sum, then without the constant.
    if (sums.traffic().system_sums != 3 + 2 + 3 + 2) throw std::runtime_error("number of sums");
  });
  SUCCEED();
}

TEST_CASE("a system without any atoms records nothing, and its first atoms do")
{
  run_virtual_ranks(2, [](Communicator &communicator) {
    SystemSums sums(communicator);
    sums.replay();
    if (communicator.rank() == 1) return sums.replay();
    sums.begin();
    if (sums.sum(at::ones({1}, at::kDouble)).item<double>() != 1.0) throw std::runtime_error("sum");
    sums.end();
  });
  SUCCEED();
}

TEST_CASE("a model that departs from its schedule of sums is stopped, not answered wrongly")
{
  CHECK_THROWS_WITH(run_virtual_ranks(2,
                                      [](Communicator &communicator) {
                                        SystemSums sums(communicator);
                                        for (const std::int64_t width : {2, 3}) {
                                          sums.begin();
                                          sums.sum(at::ones({width}, at::kDouble));
                                          sums.end();
                                        }
                                      }),
                    contains("another order or shape"));
  CHECK_THROWS_WITH(run_virtual_ranks(2,
                                      [](Communicator &communicator) {
                                        SystemSums sums(communicator);
                                        sums.begin();
                                        sums.sum(at::ones({1 + communicator.rank()}, at::kDouble));
                                        sums.end();
                                      }),
                    contains("ranks sum different things"));
}

TEST_CASE("reductions over a system that are no sums are refused, with the operator and its line")
{
  const PeriodicSystem system = bulk(54);
  std::mt19937_64 random(6);
  ModelRun run;
  run.owners = random_owners(random, system.size(), 2);
  run.ranks = 2;
  struct Refused {
    const char *sum, *op, *said;
  };
  const std::vector<Refused> refused{
      {"        return torch.zeros(1, dtype=values.dtype).scatter_reduce(0, batch, values, 'amax')",
       "aten::scatter_reduce", "amax"},
      {"        return torch.zeros(1, dtype=values.dtype).index_copy(0, batch[:1], values[:1])",
       "aten::index_copy", "replace"},
      {"        return torch.zeros(2, dtype=values.dtype).index_add(0, batch, values)[:1]",
       "aten::index_add", "2 rows"},
      {"        return torch.zeros(3, dtype=values.dtype).index_add(0, batch * 3 + 1, values)[1:2]",
       "aten::index_add", "computed"},
      {"        return torch.segment_reduce(values, 'sum', lengths=torch.full([1], n))",
       "aten::segment_reduce", "one segment"},
  };
  for (const Refused &r : refused) {
    INFO(r.op);
    const Written written(balanced(r.sum));
    CHECK_THROWS_WITH(run_model(written.model, system, system, run),
                      contains(r.op) && contains(r.said) && contains("at `return torch."));
  }
}

TEST_CASE("a reduction over all atoms without batch is refused, unless nothing read depends on it")
{
  const PeriodicSystem system = bulk(55);
  std::mt19937_64 random(7);
  ModelRun run;
  run.owners = random_owners(random, system.size(), 2);
  run.ranks = 2;
  for (const char *sum :
       {"return values.sum()", "return values.mean()", "return values.sum(0, keepdim=True)",
        "return values.unsqueeze(1).mean(0)", "return torch.dot(values, values)",
        "return torch.softmax(values, 0)", "return values.max()", "return torch.norm(values, 2)"}) {
    INFO(sum);
    for (const HaloMode mode : {HaloMode::exchange, HaloMode::wide}) {
      run.mode = mode;
      const Written reduced(
          "    def forward(self, types, edge_index, edge_vectors, batch):\n"
          "        w = torch.exp(-0.3 * (edge_vectors * edge_vectors).sum(1))\n"
          "        x = torch.zeros(types.size(0), dtype=torch.float64)"
          ".index_add(0, edge_index[0], w)\n"
          "        return x * self.reduced(x)\n"
          "    def reduced(self, values):\n        " +
          std::string(sum) + "\n");
      CHECK_THROWS_WITH(run_model(reduced.model, system, system, run),
                        contains("aten::") && contains("batch"));
      CHECK_NOTHROW(run_model(reduced.model, system, system, dense_run(system)));
    }
  }
  run.mode = HaloMode::exchange;
  const Written total(
      "    def forward(self, types, edge_index, edge_vectors, batch):\n"
      "        w = torch.exp(-0.3 * (edge_vectors * edge_vectors).sum(1))\n"
      "        x = torch.zeros(types.size(0), dtype=torch.float64)"
      ".index_add(0, edge_index[0], w)\n"
      "        return {'node_energy': x, 'energy': x.sum()}\n");
  check_same(run_model(total.model, system, system, run),
             run_model(total.model, system, system, dense_run(system)), kRoundOff);
}
