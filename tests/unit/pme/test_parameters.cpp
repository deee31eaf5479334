// If these fail, a mistake in the parameters of PME passes unseen, or its message does not say what
// to do.
#include "catch.h"
#include "ewald/charged_system.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

void refuses(const nlohmann::json &parameters, const std::string &part)
{
  CAPTURE(parameters.dump());
  const PeriodicSystem system =
      crystal(orthogonal_cell(60.0, 60.0, 60.0), {{0, 0, 0}, {.5, .4, .5}}, {1, -1});
  CHECK_THROWS_WITH(evaluate_one(charged_model("pme", 5.0, parameters), system), contains(part));
}

}    // namespace

TEST_CASE("wrong parameters of PME are refused")
{
  refuses({{"ordre", 6}}, "Did you mean \"order\"");
  refuses({{"k_cutoff", 2.0}}, "k_cutoff");
  refuses({{"order", 3}}, "4 or more");
  refuses({{"order", 9}}, "between 4 and 8");
  refuses({{"order", 5.5}}, "whole number");
  refuses({{"mesh", 32}}, "mesh");
  refuses({{"mesh", {32, 32}}}, "three entries");
  refuses({{"mesh", {32, 32, 5}}}, "6 or more");
  refuses({{"fft", "replicate"}}, "replicated");
  refuses({{"fft", 1}}, "fft");
  refuses({{"accuracy", 1e-13}, {"order", 4}}, "2^31");
}
