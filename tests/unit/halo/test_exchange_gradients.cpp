// If these fail, an exchange gives back other gradients than it should: forces are no derivatives
// of the energy where atoms of several ranks meet.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "catch.h"
#include "comm/thread_communicator.h"
#include "halo/halo_exchange.h"
#include "halo/random_plan.h"
#include "halo/system_sums.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr std::int64_t kWidth = 2;
// Central differences of a polynomial of third degree, over rows of order one: the error of the
// formula is kStep^2, that of rounding 1e-16 / kStep times some dozen terms.
constexpr double kStep = 1e-5;
constexpr double kDifferenceError = 1e-8;
constexpr double kRoundOff = 1e-12;    // sums of some dozen numbers of order one

// [rows of the argument, kWidth], a token -> rows, the next token. Collective.
using Exchanged = std::function<Chained(const at::Tensor &, const at::Tensor &)>;

at::Tensor random_rows(Communicator &communicator, std::int64_t rows, int seed)
{
  auto generator = at::make_generator<at::CPUGeneratorImpl>(
      static_cast<std::uint64_t>(100 * seed + communicator.rank()));
  return at::randn({rows, kWidth}, generator, at::kDouble);
}

double over_ranks(Communicator &communicator, double value)
{
  std::array<double, 1> total{value};
  communicator.sum(total);
  return total[0];
}

// Each rank's own loss, of the exchanged rows and of products of them with the rank's own.
at::Tensor loss(const at::Tensor &rows, const at::Tensor &weights)
{
  return (weights * (rows + 0.5 * rows * rows + 0.1 * rows * rows * rows)).sum();
}

// The largest difference on any rank between autograd's gradient of the sum over ranks of all
// losses and central differences of that sum; and the largest gradient.
struct Checked {
  double difference = 0.0, gradient = 0.0;
};
Checked check_gradient(Communicator &communicator, std::int64_t rows, const Exchanged &exchanged)
{
  const at::Tensor leaf = at::empty({0}, at::kDouble).requires_grad_(true);
  at::Tensor x = random_rows(communicator, rows, 1).requires_grad_(true);
  const Chained once = exchanged(x, leaf);
  const at::Tensor weights = random_rows(communicator, once.rows.size(0), 2);
  const at::Tensor own = loss(once.rows, weights);
  std::vector<at::Tensor> roots{own, once.token}, seeds{at::ones_like(own), at::zeros_like(leaf)};
  const at::Tensor gradient = torch::autograd::grad(roots, {x, leaf}, seeds, false, false, true)[0];

  Checked checked;
  at::Tensor moved = x.detach().clone();
  for (int rank = 0; rank < kRanks; ++rank) {
    // Every rank takes part for as many rows as the one whose rows move.
    const auto count = static_cast<std::int64_t>(
        over_ranks(communicator, rank == communicator.rank() ? static_cast<double>(rows) : 0.0));
    for (std::int64_t k = 0; k < count * kWidth; ++k) {
      const bool mine = rank == communicator.rank();
      std::array<double, 2> totals;
      for (const int sign : {-1, 1}) {
        if (mine) moved.view(-1)[k] += sign * kStep;
        totals[sign > 0] = over_ranks(
            communicator, loss(exchanged(moved, leaf.detach()).rows, weights).item<double>());
        if (mine) moved.view(-1)[k] -= sign * kStep;
      }
      if (!mine) continue;
      const double found = gradient.reshape(-1)[k].item<double>();
      checked.difference =
          std::max(checked.difference, std::abs(found - (totals[1] - totals[0]) / (2 * kStep)));
      checked.gradient = std::max(checked.gradient, std::abs(found));
    }
  }
  return checked;
}

// On virtual ranks, with a plan between them; `make` gives the exchange and its argument's rows.
void check_on_ranks(const std::function<Exchanged(HaloExchange &, std::int64_t &rows)> &make)
{
  std::array<Checked, kRanks> found;
  run_virtual_ranks(kRanks, [&](Communicator &communicator) {
    std::vector<RowOwner> halo;
    HaloExchange exchange(communicator);
    exchange.set_plan(random_plan(communicator, halo));
    std::int64_t rows = 0;
    const Exchanged exchanged = make(exchange, rows);
    found[static_cast<std::size_t>(communicator.rank())] =
        check_gradient(communicator, rows, exchanged);
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    CHECK(found[static_cast<std::size_t>(rank)].difference < kDifferenceError);
    if (rank != kEmptyRank) CHECK(found[static_cast<std::size_t>(rank)].gradient > 0.1);
  }
}

}    // namespace

TEST_CASE("gradients of a gather are those of finite differences over all ranks")
{
  check_on_ranks([](HaloExchange &exchange, std::int64_t &rows) -> Exchanged {
    rows = exchange.plan().n_owned;
    return [&](const at::Tensor &x, const at::Tensor &token) {
      return gather_rows(exchange, x, token);
    };
  });
}

TEST_CASE("gradients of a scatter are those of finite differences over all ranks")
{
  check_on_ranks([](HaloExchange &exchange, std::int64_t &rows) -> Exchanged {
    rows = exchange.plan().n_rows();
    return [&](const at::Tensor &x, const at::Tensor &token) {
      return scatter_rows(exchange, x, token);
    };
  });
}

TEST_CASE("gradients of the scatter correction are those of finite differences over all ranks")
{
  check_on_ranks([](HaloExchange &exchange, std::int64_t &rows) -> Exchanged {
    rows = exchange.plan().n_rows();
    return [&](const at::Tensor &x, const at::Tensor &token) {
      return correct_rows(exchange, x, token);
    };
  });
}

TEST_CASE("the scatter correction is the gather of the scatter, and its own adjoint")
{
  std::array<double, kRanks> composed{};
  double left = 0.0, right = 0.0;
  run_virtual_ranks(kRanks, [&](Communicator &communicator) {
    std::vector<RowOwner> halo;
    HaloExchange exchange(communicator);
    exchange.set_plan(random_plan(communicator, halo));
    const std::int64_t rows = exchange.plan().n_rows();
    const at::Tensor x = random_rows(communicator, rows, 3), y = random_rows(communicator, rows, 4);
    const at::Tensor corrected = exchange.correct(x);
    const at::Tensor difference = corrected - exchange.gather(exchange.scatter(x));
    if (rows > 0)
      composed[static_cast<std::size_t>(communicator.rank())] =
          difference.abs().max().item<double>();
    const double one = over_ranks(communicator, (corrected * y).sum().item<double>());
    const double two = over_ranks(communicator, (x * exchange.correct(y)).sum().item<double>());
    if (communicator.rank() == 0) {
      left = one;
      right = two;
    }
  });
  for (const double difference : composed) CHECK(difference == 0.0);
  CHECK(std::abs(left) > 1.0);
  CHECK(std::abs(left - right) < 100 * kRoundOff);
}

TEST_CASE("corrected twice, a row has grown by the number of its copies")
{
  std::array<double, kRanks> difference{}, growth{};
  run_virtual_ranks(kRanks, [&](Communicator &communicator) {
    std::vector<RowOwner> halo;
    HaloExchange exchange(communicator);
    exchange.set_plan(random_plan(communicator, halo));
    const HaloPlan &plan = exchange.plan();
    if (plan.n_rows() == 0) return;
    const at::Tensor once = exchange.correct(random_rows(communicator, plan.n_rows(), 5));
    const at::Tensor twice = exchange.correct(once);
    // One for the owner's own, one for each copy; known to the owner, told to the holders.
    at::Tensor holders = at::ones({plan.n_owned, 1}, at::kDouble);
    for (const std::int64_t row : plan.copy_rows) holders[row] += 1.0;
    const auto rank = static_cast<std::size_t>(communicator.rank());
    difference[rank] = (twice - exchange.gather(holders) * once).abs().max().item<double>();
    growth[rank] = (twice - once).abs().max().item<double>();
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    CHECK(difference[static_cast<std::size_t>(rank)] < kRoundOff);
    if (rank != kEmptyRank) CHECK(growth[static_cast<std::size_t>(rank)] > 0.1);
  }
}
