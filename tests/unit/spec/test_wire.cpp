// If these fail, saved specs differ in bytes from those of the original, do not survive a round
// trip, or compare equal when they distribute a model differently.
#include "catch.h"
#include "golden.h"
#include "spec/presets.h"
#include "spec/wire.h"

using namespace mlip_dd;
using namespace mlip_dd::test;
using Json = nlohmann::ordered_json;

namespace {

const std::vector<std::string> kSpecFiles{"SPEC_DFTD3_HALO.json",
                                          "SPEC_EWALD_HALO.json",
                                          "SPEC_LJ_HALO.json",
                                          "SPEC_MPNN_GP.json",
                                          "SPEC_MPNN_HALO.json",
                                          "SPEC_PME_HALO.json",
                                          "SPEC_UMA_HALO.json",
                                          "wrapper_aimnet2.json",
                                          "wrapper_dftd3.json",
                                          "wrapper_ewald.json",
                                          "wrapper_ewald_gp.json",
                                          "wrapper_ewald_slab.json",
                                          "wrapper_lj.json",
                                          "wrapper_mace_cueq_base.json",
                                          "wrapper_mace_scripted_base.json",
                                          "wrapper_mace_wrapper_2layer.json",
                                          "wrapper_pme.json",
                                          "wrapper_pme_gp.json"};

MLIPSpec parsed(const std::string &text) { return read_wire_text(text, "text"); }

std::string refusal(const std::string &text)
{
  return error_of([&] { parsed(text); });
}

constexpr const char *kMinimal = R"({"version": 2, "core": {"policy": {"kind": "halo"}}})";

std::string with_core(const std::string &rest)
{
  return R"({"version": 2, "core": {"policy": {"kind": "halo"}, )" + rest + "}}";
}

}    // namespace

TEST_CASE("a saved preset has the original's bytes", "[wire]")
{
  const std::string bytes = source_file("tests/golden/specs/_saved_format_example.json");
  REQUIRE(write_wire_text(*find_preset("SPEC_MPNN_GP")) == bytes);
  REQUIRE(write_wire_text(parsed(bytes)) == bytes);
}

TEST_CASE("golden specs survive a round trip", "[wire]")
{
  for (const std::string &name : kSpecFiles) {
    CAPTURE(name);
    const Json value = golden(name);
    const MLIPSpec spec = spec_of(value);
    REQUIRE(to_wire(spec).dump() == value.dump());
    REQUIRE(identical(parsed(write_wire_text(spec)), spec));
  }
}

TEST_CASE("names outside ASCII are written as escapes and read back", "[wire]")
{
  MLIPSpec spec = parsed(kMinimal);
  spec.output_kinds = {{"\xc3\xa9nergie \xf0\x9f\x98\x80 \"\\\x7f\n", OutputKind::PerGraph}};
  const std::string text = write_wire_text(spec);
  for (char letter : text) REQUIRE((letter == '\n' || (letter >= ' ' && letter < 0x7f)));
  REQUIRE(contains(text, R"("\u00e9nergie \ud83d\ude00 \"\\\u007f\n")"));
  REQUIRE(identical(parsed(text), spec));
}

TEST_CASE("equality leaves out compile and shard_fields, identity does not", "[wire]")
{
  const MLIPSpec spec = parsed(kMinimal);
  MLIPSpec other = spec;
  other.compile = CompilePolicy{};
  other.distribution.shard_fields = {"spins"};
  REQUIRE(other == spec);
  REQUIRE_FALSE(identical(other, spec));
  other = spec;
  other.owned_only_outputs = {"forces"};
  REQUIRE_FALSE(other == spec);
  other = spec;
  other.distribution.policy.gather_mode = GatherMode::Local;
  REQUIRE_FALSE(other == spec);
  other = spec;
  other.output_kinds = {{"energy", OutputKind::Global}};
  REQUIRE_FALSE(other == spec);
  other = spec;
  other.distribution.custom_ops = {{"a::b", {{0, ArgTransform::SliceOwned}}, {}}};
  REQUIRE_FALSE(other == spec);
}

TEST_CASE("refusals name pointer, value, legal values and the nearest one", "[wire]")
{
  const std::string key = refusal(with_core(R"("custom_op": [])"));
  REQUIRE(contains(key, "text at /core/custom_op"));
  REQUIRE(contains(key, "Did you mean \"custom_ops\"?"));

  const std::string mode = refusal(
      R"({"version": 2, "core": {"policy": {"kind": "halo", "scatter_mode": "halo_corection"}}})");
  REQUIRE(contains(mode, "/core/policy/scatter_mode"));
  REQUIRE(contains(mode, "found: \"halo_corection\""));
  REQUIRE(contains(mode, "Did you mean \"halo_correction\"?"));
  REQUIRE(contains(mode, "Legal: halo_correction or local"));

  const std::string position = refusal(with_core(
      R"("custom_ops": [{"op": "a::b", "arg_transforms": {"0": {"type": "slice_owed"}}}])"));
  REQUIRE(contains(position, "/core/custom_ops/0/arg_transforms/0/type"));
  REQUIRE(contains(position, "Did you mean \"slice_owned\"?"));

  const std::string escaped = refusal(with_core(R"("a/b~c": 1)"));
  REQUIRE(contains(escaped, "/core/a~1b~0c"));

  const std::string version = refusal(R"({"version": 3, "core": {}})");
  REQUIRE(contains(version, "/version"));
  REQUIRE(contains(version, "Version 2"));
}

TEST_CASE("values that only the original takes are refused", "[wire]")
{
  REQUIRE(contains(
      refusal(R"({"version": 2, "core": {"policy": {"kind": "halo"}}, "all_reduce_outputs": ["f"],
                  "output_kinds": [["f", "per_node"]]})"),
      "has one row per atom"));
  REQUIRE(contains(refusal(with_core(R"("custom_ops": "")")), "must be an array"));
  REQUIRE(contains(refusal(with_core(R"("shard_fields": [1])")), "must be a string"));
  REQUIRE(contains(refusal(with_core(R"("custom_ops": [{"op": "a::"}])")), "<namespace>::<name>"));
  for (const char *position : {" 1", "1_0", "99999999999", "", "+", "+-1", "1.0"}) {
    CAPTURE(position);
    REQUIRE(contains(refusal(with_core(R"("custom_ops": [{"op": "a::b", "arg_transforms": {")" +
                                       std::string(position) + R"(": {"type": "slice_owned"}}}])")),
                     "is not a whole number"));
  }
  REQUIRE(contains(refusal(R"({"version": 2, "core": {"policy": {"kind": "halo"}},
                               "node_energy_key": "\ud800"})"),
                   "not valid JSON"));
}

TEST_CASE("an output that lenient reading leaves in both sets is summed", "[wire]")
{
  std::vector<std::string> warnings;
  const MLIPSpec spec = read_wire_text(
      R"({"version": 2, "core": {"policy": {"kind": "halo"}}, "owned_only_outputs": ["a", "b"],
          "all_reduce_outputs": ["a"]})",
      "text", Reading::Lenient, &warnings);
  REQUIRE(warnings.size() == 1);
  REQUIRE(output_reduce(spec, "a") == Reduce::AllReduce);
  REQUIRE(output_reduce(spec, "b") == Reduce::OwnedOnly);
  REQUIRE(output_reduce(spec, "c") == Reduce::None);
  REQUIRE(output_kind(spec, "a") == OutputKind::Unknown);
}
