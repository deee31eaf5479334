// If these fail, a pipeline takes a field from elsewhere than its file says, runs a consumer before
// its producer, or starts although a field is missing.
#include "base/error.h"
#include "catch.h"
#include "pipeline/wiring.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

PipelineSpec one_group(std::vector<PipelineStep> steps, bool autograd = true)
{
  PipelineSpec pipeline;
  pipeline.groups.push_back({std::move(steps), autograd});
  return pipeline;
}

const StepFields kMaker{{}, {"charges", "alpha"}};
const StepFields kTaker{{"charges"}, {}};

std::string refusal(const PipelineSpec &pipeline, const std::vector<StepFields> &fields)
{
  try {
    resolve_wiring(pipeline, fields, "/here/p.json");
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

}    // namespace

TEST_CASE("wires and their order", "[wiring]")
{
  // The consumer stands first in the file.
  const Wiring wiring =
      resolve_wiring(one_group({{"pme", {{"charges", {"q", "charges"}}}}, {"q"}, {"lj"}}),
                     {kTaker, kMaker, {}}, "p.json");
  CHECK(wiring.wires[0] == std::vector<FieldWire>{{"charges", 1, "charges"}});
  CHECK(wiring.wires[1].empty());
  CHECK(wiring.order == std::vector<std::size_t>{1, 0, 2});
  CHECK(wiring.host_fields[0].empty());
  CHECK(wiring.found.empty());
}

TEST_CASE("a field of the same name is found in the group, and only there", "[wiring]")
{
  const Wiring wiring = resolve_wiring(one_group({{"q"}, {"pme"}}), {kMaker, kTaker}, "p.json");
  CHECK(wiring.wires[1] == std::vector<FieldWire>{{"charges", 0, "charges"}});
  REQUIRE(wiring.found.size() == 1);
  CHECK_THAT(wiring.found[0], contains("pme.charges is taken from q.charges"));

  PipelineSpec apart = one_group({{"q"}});
  apart.groups.push_back({{{"pme"}}, true});
  const Wiring from_atoms = resolve_wiring(apart, {kMaker, kTaker}, "p.json");
  CHECK(from_atoms.wires[1].empty());
  CHECK(from_atoms.host_fields[1] == std::vector<std::string>{"charges"});
}

TEST_CASE("wires to or from nothing are refused with the names", "[wiring]")
{
  const auto wired = [](const std::string &input, const std::string &output) {
    return one_group({{"q"}, {"pme", {{input, {"q", output}}}}});
  };
  const std::string nobody = refusal(wired("charges", "chrages"), {kMaker, kTaker});
  CHECK_THAT(nobody, contains("\"q\" makes no per-atom output \"chrages\""));
  CHECK_THAT(nobody, contains("\"charges\", \"alpha\""));
  CHECK_THAT(nobody, contains("/here/p.json"));
  const std::string nowhere = refusal(wired("alpha", "alpha"), {kMaker, kTaker});
  CHECK_THAT(nowhere, contains("\"pme\" takes no per-atom input \"alpha\""));
  CHECK_THAT(nowhere, contains("\"charges\""));
}

TEST_CASE("a field that could go unnoticed is refused", "[wiring]")
{
  CHECK_THAT(refusal(one_group({{"q"}, {"pme"}}, false), {kMaker, kTaker}),
             contains("Set \"autograd\": true"));
  CHECK_THAT(refusal(one_group({{"a"}, {"b"}, {"pme"}}), {kMaker, kMaker, kTaker}),
             contains("\"a\", \"b\""));
}
