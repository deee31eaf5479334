// If these fail, DFT-D3 on a GPU computes something else than on the CPU: these are the sums of its
// lanes, and what is done with them between exchanges, run without one; or it computes something
// else on a device's graph than on the host's.
#include "catch.h"
#include "dftd3/d3_cases.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kRoundOff = 1e-12;    // float64 sums of some thousand terms, relative

}    // namespace

TEST_CASE("lanes give the dispersion energies and forces of the CPU's kernels")
{
  const PeriodicSystem system = organic_system(run_seed());
  const std::string damping = GENERATE("bj", "zero");
  const double switch_width = GENERATE(0.0, 0.8);
  const bool triples = GENERATE(false, true);
  CAPTURE(damping, switch_width, triples);
  // More neighbours than lanes.
  ModelSpec model = organic(damping, switch_width, 6.0);
  if (triples) {
    const double pairs_alone = run_native(model, system, system).energy;
    model.parameters["three_body"] = true;
    CHECK(std::abs(run_native(model, system, system).energy - pairs_alone) > 1e-3);
  }
  check_kernels(model, system, kRoundOff);
}
