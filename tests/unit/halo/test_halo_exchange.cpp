// If these fail, features or gradients arrive at the wrong atoms, are counted twice or not at all:
// models give other energies and forces on several ranks than on one.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <random>

#include "base/error.h"
#include "catch.h"
#include "comm/thread_communicator.h"
#include "halo/halo_exchange.h"
#include "halo/random_plan.h"
#include "halo/row_arrays.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

// Sums of a few dozen numbers of order one, in float64.
constexpr double kRoundOff = 1e-12;

// A number that tells rank, row and column apart.
double value_of(const RowOwner &owner, std::int64_t column)
{
  return 1000.0 * owner.rank + 10.0 * static_cast<double>(owner.row) + static_cast<double>(column);
}

void require(bool condition, const char *what)
{
  if (!condition) throw std::runtime_error(what);
}

}    // namespace

TEST_CASE("gather copies owners' rows into halo rows, for any dtype and trailing shape")
{
  const std::vector<std::vector<std::int64_t>> shapes{{}, {1}, {3}, {7}, {2, 3}, {16}, {5, 1, 3}};
  for (const at::ScalarType dtype :
       {at::kDouble, at::kFloat, at::kHalf, at::kLong, at::kInt, at::kShort})
    for (const auto &trailing : shapes)
      run_virtual_ranks(kRanks, [&](Communicator &communicator) {
        std::vector<RowOwner> halo;
        HaloExchange exchange(communicator);
        exchange.set_plan(random_plan(communicator, halo));
        auto shape = trailing;
        shape.insert(shape.begin(), owned_by(communicator.rank()));
        at::Tensor owned = at::empty(shape, at::kDouble);
        const std::int64_t width = owned.numel() / std::max<std::int64_t>(shape[0], 1);
        for (std::int64_t row = 0; row < shape[0]; ++row)
          for (std::int64_t c = 0; c < width; ++c)
            owned.view({shape[0], -1})[row][c] = value_of({communicator.rank(), row}, c);
        const at::Tensor rows = exchange.gather(owned.to(dtype));
        require(rows.scalar_type() == dtype, "dtype changed");
        require(rows.size(0) == shape[0] + static_cast<std::int64_t>(halo.size()), "row count");
        for (std::size_t k = 0; k < halo.size(); ++k)
          for (std::int64_t c = 0; c < width; ++c) {
            const double expected = at::scalar_tensor(value_of(halo[k], c), at::kDouble)
                                        .to(dtype)
                                        .to(at::kDouble)
                                        .item<double>();
            const auto row = rows[shape[0] + static_cast<std::int64_t>(k)].reshape({-1});
            require(row[c].to(at::kDouble).item<double>() == expected, "wrong halo value");
          }
      });
  SUCCEED();
}

TEST_CASE("gather reads strided tensors as what they mean")
{
  run_virtual_ranks(kRanks, [&](Communicator &communicator) {
    std::vector<RowOwner> halo;
    HaloExchange exchange(communicator);
    exchange.set_plan(random_plan(communicator, halo));
    const std::int64_t n = owned_by(communicator.rank());
    at::Tensor wide = at::empty({4, n}, at::kDouble);
    for (std::int64_t row = 0; row < n; ++row)
      for (std::int64_t c = 0; c < 4; ++c) wide[c][row] = value_of({communicator.rank(), row}, c);
    const at::Tensor rows = exchange.gather(wide.t());
    for (std::size_t k = 0; k < halo.size(); ++k)
      require(rows[n + static_cast<std::int64_t>(k)][3].item<double>() == value_of(halo[k], 3),
              "value");
  });
  SUCCEED();
}

TEST_CASE("scatter is the adjoint of gather, and sums repeat bit for bit")
{
  // <G x, y> summed over ranks equals <x, S y>.
  double left = 0.0, right = 0.0;
  std::vector<at::Tensor> first(kRanks), second(kRanks);
  for (auto *results : {&first, &second})
    run_virtual_ranks(kRanks, [&, results](Communicator &communicator) {
      std::vector<RowOwner> halo;
      HaloExchange exchange(communicator);
      exchange.set_plan(random_plan(communicator, halo));
      const HaloPlan &plan = exchange.plan();
      auto generator = at::make_generator<at::CPUGeneratorImpl>(7 + communicator.rank());
      const at::Tensor x = at::randn({plan.n_owned, 5}, generator, at::kDouble);
      const at::Tensor y = at::randn({plan.n_rows(), 5}, generator, at::kDouble);
      const at::Tensor scattered = exchange.scatter(y);
      std::array<double, 2> products{(exchange.gather(x) * y).sum().item<double>(),
                                     (x * scattered).sum().item<double>()};
      communicator.sum(products);
      (*results)[static_cast<std::size_t>(communicator.rank())] =
          exchange.scatter(y.to(at::kFloat));
      if (communicator.rank() == 0) {
        left = products[0];
        right = products[1];
      }
    });
  CHECK(std::abs(left) > 1.0);
  CHECK(std::abs(left - right) < kRoundOff * 100);
  for (int rank = 0; rank < kRanks; ++rank)
    CHECK(at::equal(first[static_cast<std::size_t>(rank)], second[static_cast<std::size_t>(rank)]));
}

TEST_CASE("float32 rows are added in float64: the result is the rounded exact sum")
{
  run_virtual_ranks(3, [](Communicator &communicator) {
    // Ranks 1 and 2 hold copies of rank 0's only row; 1 + 2^-24 + 2^-24 needs more than float32 on
    // the way.
    std::vector<RowOwner> wishes;
    if (communicator.rank() > 0) wishes.push_back({0, 0});
    std::vector<std::int64_t> rows(wishes.size());
    HaloExchange exchange(communicator);
    exchange.set_plan(
        build_halo_plan(communicator, communicator.rank() == 0 ? 1 : 0, wishes, rows));
    const float part = communicator.rank() == 0 ? 1.0f : 0x1p-24f;
    const at::Tensor total = exchange.scatter(at::full({1}, part, at::kFloat));
    if (communicator.rank() == 0)
      require(total.item<float>() == 1.0f + 0x1p-23f, "rounded on the way");
  });
  SUCCEED();
}

TEST_CASE("adding bool rows is refused")
{
  CHECK_THROWS_AS(
      run_virtual_ranks(2,
                        [](Communicator &communicator) {
                          const std::vector<RowOwner> wishes{{1 - communicator.rank(), 0}};
                          std::vector<std::int64_t> rows(1);
                          HaloExchange exchange(communicator);
                          exchange.set_plan(build_halo_plan(communicator, 1, wishes, rows));
                          exchange.scatter(at::ones({2}, at::kBool));
                        }),
      Error);
}

TEST_CASE("a tensor with another number of rows is refused, with both numbers")
{
  const auto communicator = make_self_communicator();
  HaloExchange exchange(*communicator);
  HaloPlan plan;
  plan.n_owned = 4;
  exchange.set_plan(plan);
  CHECK_THROWS_WITH(exchange.gather(at::zeros({3, 2})), contains("4 rows") && contains("[3, 2]"));
}

TEST_CASE("without shared rows nothing is copied")
{
  const auto communicator = make_self_communicator();
  HaloExchange exchange(*communicator);
  HaloPlan plan;
  plan.n_owned = 4;
  exchange.set_plan(plan);
  const at::Tensor owned = at::zeros({4, 2});
  CHECK(exchange.gather(owned).is_same(owned));
  CHECK(exchange.scatter(owned).is_same(owned));
  CHECK(exchange.traffic().bytes_sent == 0);
}

TEST_CASE("traffic counts rows, messages and bytes")
{
  run_virtual_ranks(kRanks, [](Communicator &communicator) {
    std::vector<RowOwner> halo;
    HaloExchange exchange(communicator);
    exchange.set_plan(random_plan(communicator, halo));
    const HaloPlan &plan = exchange.plan();
    exchange.gather(at::zeros({plan.n_owned, 5}, at::kFloat));
    const auto copies = static_cast<std::int64_t>(plan.copy_rows.size());
    require(exchange.traffic().bytes_sent == copies * 5 * 4, "bytes of a gather");
    require(exchange.traffic().messages_sent == static_cast<std::int64_t>(plan.copy_peers.size()),
            "messages");
    exchange.scatter(at::zeros({plan.n_rows(), 5}, at::kDouble));
    require(exchange.traffic().bytes_sent == copies * 5 * 4 + plan.n_halo * 5 * 8,
            "bytes of a scatter");
    require(exchange.traffic().gathers == 1 && exchange.traffic().scatters == 1, "calls");
  });
  SUCCEED();
}

TEST_CASE("the adjoints run on every rank, also where its own energy does not need them")
{
  // E = sum over ranks of sum(w * gather(gather(x)^2)) on ranks 0, 1; the other ranks' energies do
  // not depend on what they gathered, yet their adjoints must run for the owners' sake.
  run_virtual_ranks(kRanks, [](Communicator &communicator) {
    std::vector<RowOwner> halo;
    HaloExchange exchange(communicator);
    exchange.set_plan(random_plan(communicator, halo));
    const HaloPlan &plan = exchange.plan();
    const int rank = communicator.rank();
    at::Tensor x = at::empty({plan.n_owned, 1}, at::kDouble);
    for (std::int64_t row = 0; row < plan.n_owned; ++row)
      x[row][0] = 0.01 * value_of({rank, row}, 0) + 0.5;
    x.requires_grad_(true);
    const at::Tensor leaf = at::empty({0}, at::kDouble).requires_grad_(true);
    const Chained once = gather_rows(exchange, x, leaf);
    const at::Tensor squares = once.rows.narrow(0, 0, plan.n_owned).pow(2);
    const Chained twice = gather_rows(exchange, squares, once.token);
    const at::Tensor energy = rank < 2 ? twice.rows.sum() : (3.0 * x).sum();
    const auto gradients = torch::autograd::grad(
        {energy, twice.token}, {x, leaf}, {at::ones_like(energy), at::zeros_like(twice.token)},
        false, false, true);
    // Every rank knows who of ranks 0 and 1 holds each of its atoms.
    std::vector<std::vector<RowOwner>> held(2);
    for (int holder = 0; holder < 2; ++holder) {
      std::mt19937_64 random(99 + static_cast<unsigned>(holder));
      std::bernoulli_distribution coin(0.5);
      for (const RowOwner &atom : all_atoms())
        if (atom.rank != holder && coin(random))
          held[static_cast<std::size_t>(holder)].push_back(atom);
    }
    for (std::int64_t row = 0; row < plan.n_owned; ++row) {
      double times = rank < 2 ? 1.0 : 0.0;
      for (const auto &list : held)
        for (const RowOwner &atom : list) times += atom == RowOwner{rank, row} ? 1.0 : 0.0;
      const double expected = times * 2.0 * x[row][0].item<double>() + (rank < 2 ? 0.0 : 3.0);
      require(std::abs(gradients[0][row][0].item<double>() - expected) < kRoundOff, "gradient");
    }
    require(exchange.traffic().scatters == (plan.isolated() ? 0 : 2), "an adjoint was not run");
  });
  SUCCEED();
}

TEST_CASE("plain arrays travel like tensors")
{
  run_virtual_ranks(kRanks, [](Communicator &communicator) {
    std::vector<RowOwner> halo;
    HaloExchange exchange(communicator);
    exchange.set_plan(random_plan(communicator, halo));
    const std::int64_t n = exchange.plan().n_owned;
    std::vector<double> rows(static_cast<std::size_t>(2 * n));
    for (std::int64_t row = 0; row < n; ++row)
      for (std::int64_t c = 0; c < 2; ++c)
        rows[static_cast<std::size_t>(2 * row + c)] = value_of({communicator.rank(), row}, c);
    gather_array(exchange, rows, 2);
    for (std::size_t k = 0; k < halo.size(); ++k)
      require(rows[2 * (static_cast<std::size_t>(n) + k) + 1] == value_of(halo[k], 1), "gathered");
    const std::vector<double> before(rows.begin(), rows.begin() + 2 * n);
    std::fill(rows.begin() + 2 * n, rows.end(), 0.0);
    scatter_array(exchange, rows, 2);
    require(rows == before, "scattered zeros changed owned rows");
  });
  SUCCEED();
}
