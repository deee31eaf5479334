// If these fail, there are systems, decompositions, models or policies for which several ranks give
// other numbers than one. The message has the seed of the case; MLIP_DD_PROPERTY_SEED=<seed> and
// MLIP_DD_PROPERTY_CASES=1 run it alone, more cases than by default take longer.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include "catch.h"
#include "property/random_case.h"
#include "property/suite.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr std::uint64_t kDefaultSeed = 20260;
constexpr std::uint64_t kDefaultCases = 60;

std::uint64_t from_environment(const char *name, std::uint64_t otherwise)
{
  const char *value = std::getenv(name);
  return value ? std::stoull(value) : otherwise;
}

}    // namespace

TEST_CASE("random systems, owners, models and policies: decomposed is dense", "[property]")
{
  const std::uint64_t seed = from_environment("MLIP_DD_PROPERTY_SEED", kDefaultSeed);
  const std::uint64_t cases = from_environment("MLIP_DD_PROPERTY_CASES", kDefaultCases);
  std::cout << "property suite: MLIP_DD_PROPERTY_SEED=" << seed
            << " MLIP_DD_PROPERTY_CASES=" << cases << std::endl;
  int with_forces = 0, on_several = 0;
  for (std::uint64_t k = 0; k < cases; ++k) {
    const RandomCase drawn = draw_case(seed + k);
    INFO(drawn.text);
    try {
      const std::string edges = fault_of_edges(drawn);
      CHECK(edges == "");
      const Deviation deviation = deviation_of(drawn);
      INFO(deviation.where);
      CHECK(deviation.largest < kSame);
      with_forces += deviation.forces > kSignal;
      on_several += drawn.ranks > 1;
    } catch (const std::exception &error) {
      FAIL_CHECK(error.what());
    }
  }
  // There was something to compare: lone atoms have no forces, and few ranks no exchange.
  if (cases >= kDefaultCases) {
    CHECK(with_forces > static_cast<int>(cases) / 2);
    CHECK(on_several > static_cast<int>(cases) / 2);
  }
}
