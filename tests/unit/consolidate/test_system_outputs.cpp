// If these fail, an output of the whole system differs between ranks, is counted once for each of
// them, or is lost where some have no atoms.
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "catch.h"
#include "comm/thread_communicator.h"
#include "consolidate/system_outputs.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr OutputRule kSame{OutputKind::PerGraph, Reduce::None, false};
constexpr OutputRule kSum{OutputKind::PerGraph, Reduce::AllReduce, false};
constexpr OutputRule kUntouched{OutputKind::Global, Reduce::AllReduce, false};

}    // namespace

TEST_CASE("all ranks get the same, whoever runs the model")
{
  const std::vector<std::set<int>> without_atoms{{}, {0}, {0, 2}, {1, 3, 4}};
  for (const int ranks : {1, 2, 3, 5, 8})
    for (const std::set<int> &empty : without_atoms) {
      if (static_cast<int>(empty.size()) >= ranks || (!empty.empty() && *empty.rbegin() >= ranks))
        continue;
      int first = 0, running = 0;
      double total = 0.0;
      for (int r = ranks - 1; r >= 0; --r)
        if (!empty.contains(r)) first = r, ++running, total += 1.0 + r;
      INFO(ranks << " ranks, " << running << " of them run");
      run_virtual_ranks(ranks, [&](Communicator &communicator) {
        const int r = communicator.rank();
        const bool runs = !empty.contains(r);
        const RunningRanks found = find_running_ranks(communicator, runs);
        SystemOutputs outputs;
        const std::map<std::string, OutputRule> rules{
            {"part", kSum}, {"seen", kUntouched}, {"table", kSame}};
        for (const double step : {1.0, 2.0}) {
          SystemValues own;
          if (runs) {
            own["part"] = {{}, {step * (1.0 + r)}};
            own["seen"] = {{1}, {100.0 + r}};
            own["table"] = {{2, 2}, {step, 0.0, -0.1, 3.0}};
          }
          const SystemValues made = outputs.consolidate(communicator, found, rules, own);
          // Catch2's macros are for one thread.
          const bool right = found.count == running && found.first == first &&
                             made.at("part").values == std::vector<double>{step * total} &&
                             made.at("part").shape.empty() &&
                             made.at("seen").values == std::vector<double>{100.0 + first} &&
                             made.at("table").values == std::vector<double>{step, 0.0, -0.1, 3.0} &&
                             made.at("table").shape == std::vector<std::int64_t>{2, 2};
          if (!right) throw std::runtime_error("rank " + std::to_string(r) + " has another value");
        }
      });
    }
}

TEST_CASE("without atoms anywhere there is nothing")
{
  run_virtual_ranks(3, [&](Communicator &communicator) {
    SystemOutputs outputs;
    const RunningRanks nobody = find_running_ranks(communicator, false);
    if (nobody.count != 0 || nobody.first != -1 ||
        !outputs.consolidate(communicator, nobody, {{"a", kSum}}, {}).empty())
      throw std::runtime_error("something was found");
  });
}

TEST_CASE("values that should be the same and are parts, and shapes that change, are refused")
{
  const auto run = [](const OutputRule &rule, auto &&value_on) {
    run_virtual_ranks(3, [&](Communicator &communicator) {
      SystemOutputs outputs;
      const RunningRanks all = find_running_ranks(communicator, true);
      outputs.consolidate(communicator, all, {{"moment", rule}},
                          {{"moment", value_on(communicator.rank())}});
    });
  };
  const auto parts = [](int rank) { return SystemValue{{1}, {1.0 + rank}}; };
  CHECK_NOTHROW(run(kSum, parts));
  CHECK_NOTHROW(run(kUntouched, parts));
  CHECK_THROWS_WITH(run(kSame, parts), contains("moment") && contains("/all_reduce_outputs"));
  const auto rows = [](int rank) {
    return SystemValue{{rank + 1}, std::vector<double>(static_cast<std::size_t>(rank) + 1, 1.0)};
  };
  CHECK_THROWS_WITH(run(kSum, rows), contains("moment") && contains("per_node"));
}
