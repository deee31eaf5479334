// If these fail, `"spec"` means another policy than the one it names, or a file without one is
// taken.
#include "catch.h"
#include "golden.h"
#include "spec/presets.h"
#include "spec/spec_file.h"
#include "spec/wire.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

const std::string kModel = R"("model": {"potential": "lj", "elements": ["Ar"], "cutoff": 7.0})";
const std::string kGraphParallel =
    R"("version": 2, "core": {"policy": {"kind": "graph_parallel"}})";

}    // namespace

TEST_CASE("a spec is given by preset, by file, by object, or in place", "[file]")
{
  TemporaryFolder folder;
  folder.write("policies/gp.json", "{" + kGraphParallel + "}");
  folder.write("policies/again.json", R"({"spec": "gp.json"})");
  const auto policy = [&](const std::string &keys) {
    const SpecFile file = read_spec_file(folder.write("s.json", "{" + keys + ", " + kModel + "}"));
    REQUIRE(file.model);
    return file.spec.distribution.policy;
  };
  REQUIRE(policy(R"("spec": "SPEC_LJ_HALO")") == halo_policy());
  REQUIRE(policy(R"("spec": "policies/gp.json")") == graph_parallel_policy());
  REQUIRE(policy(R"("spec": "policies/again.json")") == graph_parallel_policy());
  REQUIRE(policy(R"("spec": {)" + kGraphParallel + "}") == graph_parallel_policy());
  REQUIRE(policy(kGraphParallel) == graph_parallel_policy());
}

TEST_CASE("a file may hold a policy alone", "[file]")
{
  const SpecFile file =
      read_spec_text(write_wire_text(*find_preset("SPEC_MPNN_GP")), "SPEC_MPNN_GP.json");
  REQUIRE_FALSE(file.model);
  REQUIRE_FALSE(file.pipeline);
  REQUIRE(identical(file.spec, *find_preset("SPEC_MPNN_GP")));
}

TEST_CASE("a spec that is missing, double, unknown or circular is refused", "[file]")
{
  TemporaryFolder folder;
  const auto refusal = [&](const std::string &text) {
    const std::string path = folder.write("s.json", text);
    return error_of([&] { read_spec_file(path); });
  };
  const std::string none = refusal("{" + kModel + "}");
  REQUIRE(contains(none, "does not say how to distribute it"));
  REQUIRE(contains(none, "SPEC_MPNN_HALO"));
  REQUIRE(contains(refusal("{}"), "\"version\" is missing"));
  REQUIRE(contains(refusal("[]"), "must be an object"));
  REQUIRE(contains(refusal(R"({"spec": "SPEC_LJ_HALO", )" + kGraphParallel + "}"), "given twice"));
  const std::string unknown = refusal(R"({"spec": "SPEC_LJ_HALLO", )" + kModel + "}");
  REQUIRE(contains(unknown, "Did you mean \"SPEC_LJ_HALO\"?"));
  REQUIRE(contains(unknown, folder.path() + "/SPEC_LJ_HALLO"));
  REQUIRE(contains(refusal(R"({"spec": 2, )" + kModel + "}"), "preset's name"));
  REQUIRE(contains(refusal(R"({"spec": "SPEC_LJ_HALO", "modle": {}})"), "Did you mean \"model\"?"));
  REQUIRE(contains(refusal(R"({"spec": "s.json"})"), "round in a circle"));
  folder.write("t.json", R"({"spec": "./s.json"})");
  REQUIRE(contains(refusal(R"({"spec": "t.json"})"), "round in a circle"));
  folder.write("m.json", R"({"spec": "SPEC_LJ_HALO", )" + kModel + "}");
  REQUIRE(contains(refusal(R"({"spec": "m.json"})"), "is the spec of a model"));
  REQUIRE(contains(refusal(R"({"spec": "."})"), "a folder"));
  folder.write("broken.json", "{\n,}");
  const std::string broken = refusal(R"({"spec": "broken.json"})");
  REQUIRE(contains(broken, folder.path() + "/broken.json, line 2, column 1"));
}

TEST_CASE("lenient reading of a spec file warns of unknown keys and goes on", "[file]")
{
  const std::string text = R"({"spec": "SPEC_LJ_HALO", "comment": "x", )" + kModel + "}";
  REQUIRE(contains(error_of([&] { read_spec_text(text, "s.json"); }), "\"comment\""));
  const SpecFile file = read_spec_text(text, "s.json", Reading::Lenient);
  REQUIRE(file.model);
  REQUIRE(file.warnings.size() == 1);
  REQUIRE(contains(file.warnings[0], "\"comment\""));
}
