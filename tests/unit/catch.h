// Catch2 for the unit tests, version 2 or 3: TEST_CASE, SECTION, REQUIRE, CAPTURE, INFO, GENERATE
// and Approx without a namespace.
#pragma once

#if MLIP_DD_CATCH_MAJOR >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <string>

namespace mlip_dd::test {

inline auto contains(const std::string &part)
{
#if MLIP_DD_CATCH_MAJOR >= 3
  return Catch::Matchers::ContainsSubstring(part);
#else
  return Catch::Contains(part);
#endif
}

// The seed of this run, set by --rng-seed.
inline unsigned run_seed()
{
#if MLIP_DD_CATCH_MAJOR >= 3
  return Catch::getSeed();
#else
  return Catch::rngSeed();
#endif
}

}    // namespace mlip_dd::test
