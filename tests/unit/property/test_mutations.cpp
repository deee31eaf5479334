// If these fail, the property suite is blind: it would pass although messages, adjoints or sums
// between ranks were lost or counted wrongly.
#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "catch.h"
#include "property/random_case.h"
#include "property/suite.h"
#include "property/tampering.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr std::uint64_t kFirstSeed = 900;
constexpr int kCases = 24;

bool by_positions(const Toy &toy) { return toy.form != ToyForm::edge_vectors; }

bool exchanges(const RandomCase &drawn)
{
  return drawn.ranks > 1 && drawn.system.size() > 5 && drawn.realisation.mode != HaloMode::wide;
}

bool is_empty(const RandomCase &drawn, int rank)
{
  return std::find(drawn.owners.begin(), drawn.owners.end(), rank) == drawn.owners.end();
}

bool has_empty_rank(const RandomCase &drawn)
{
  for (int rank = 0; rank < drawn.ranks; ++rank)
    if (is_empty(drawn, rank)) return true;
  return false;
}

// Of a run that makes `most` exchanges on a rank, in two evaluations: fields and positions come
// first, then the layers' gathers, their adjoints, and what goes home.
std::int64_t first_feature_gather(const RandomCase &drawn, std::int64_t most)
{
  return most / 2 + drawn.toy.charges + (by_positions(drawn.toy) ? 2 : 0);
}

std::int64_t last_adjoint(const RandomCase &drawn, std::int64_t most)
{
  const int home = 1 + (by_positions(drawn.toy) ? 0 : 1) + drawn.toy.charges;
  return most - home - 1;
}

Chosen only(std::int64_t wanted)
{
  return [wanted](std::int64_t exchange) { return exchange == wanted; };
}

struct Mutation {
  const char *name;
  bool (*concerns)(const RandomCase &);
  Tampering (*make)(const RandomCase &, std::int64_t most);
};

const std::vector<Mutation> kMutations{
    {"a message lost on the way forward", exchanges,
     [](const RandomCase &drawn, std::int64_t most) -> Tampering {
       const auto chosen = only(first_feature_gather(drawn, most));
       return [chosen](Communicator &below) { return losing(below, chosen); };
     }},
    {"a dropped adjoint",
     [](const RandomCase &drawn) {
       return exchanges(drawn) && (drawn.toy.depth > 1 || by_positions(drawn.toy));
     },
     [](const RandomCase &drawn, std::int64_t most) -> Tampering {
       const auto chosen = only(last_adjoint(drawn, most));
       return [chosen](Communicator &below) { return losing(below, chosen); };
     }},
    {"a halo row missed", exchanges,
     [](const RandomCase &drawn, std::int64_t most) -> Tampering {
       const auto chosen = only(first_feature_gather(drawn, most));
       const auto bytes = static_cast<std::size_t>(drawn.toy.width) * sizeof(double);
       return [chosen, bytes](Communicator &below) { return cutting(below, chosen, bytes); };
     }},
    {"a factor of the number of ranks in an adjoint",
     [](const RandomCase &drawn) {
       return exchanges(drawn) && (drawn.toy.depth > 1 || by_positions(drawn.toy));
     },
     [](const RandomCase &drawn, std::int64_t most) -> Tampering {
       const auto chosen = only(last_adjoint(drawn, most));
       return [chosen](Communicator &below) { return multiplying(below, chosen); };
     }},
    {"a factor of the number of ranks in sums over the system",
     [](const RandomCase &drawn) { return exchanges(drawn) && drawn.toy.system_sums; },
     [](const RandomCase &, std::int64_t) -> Tampering {
       return [](Communicator &below) { return multiplying_sums(below); };
     }},
    {"sums skipped on ranks without atoms",
     [](const RandomCase &drawn) {
       return exchanges(drawn) && drawn.toy.system_sums && has_empty_rank(drawn);
     },
     [](const RandomCase &drawn, std::int64_t) -> Tampering {
       return [&drawn](Communicator &below) {
         return skipping_sums(below, is_empty(drawn, below.rank()));
       };
     }},
};

bool is_noticed(const RandomCase &drawn, const Tampering &tampering)
{
  try {
    return !(deviation_of(drawn, tampering).largest < kSame);
  } catch (const std::exception &) {
    return true;
  }
}

}    // namespace

TEST_CASE("the suite notices each fault between ranks", "[property]")
{
  std::vector<RandomCase> cases;
  std::vector<std::int64_t> most;
  for (int k = 0; k < kCases; ++k) {
    RandomCase drawn = draw_case(kFirstSeed + static_cast<std::uint64_t>(k));
    if (!exchanges(drawn)) continue;
    std::int64_t exchanges = 0;
    const Deviation sound =
        deviation_of(drawn, [&](Communicator &below) { return counting(below, exchanges); });
    INFO(drawn.text);
    REQUIRE(sound.largest < kSame);
    // Atoms too far apart for edges between ranks have nothing to lose.
    if (exchanges == 0 || sound.forces < kSignal) continue;
    cases.push_back(std::move(drawn));
    most.push_back(exchanges);
  }
  for (const Mutation &mutation : kMutations) {
    int concerned = 0, noticed = 0;
    for (std::size_t k = 0; k < cases.size(); ++k) {
      if (!mutation.concerns(cases[k])) continue;
      ++concerned;
      noticed += is_noticed(cases[k], mutation.make(cases[k], most[k]));
    }
    INFO(mutation.name << ": noticed in " << noticed << " of " << concerned << " cases");
    CHECK(concerned >= 3);
    // A fault may fall on rows that only the skin holds, which nobody reads.
    CHECK(noticed > concerned / 2);
  }
}
