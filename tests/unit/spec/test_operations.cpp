// If these fail, merged or edited specs distribute a model differently from the original's, or lose
// what ours promise to keep (the table in specs/README.md).
#include <map>

#include "catch.h"
#include "golden.h"
#include "spec/operations.h"
#include "spec/presets.h"
#include "spec/wire.h"

using namespace mlip_dd;
using namespace mlip_dd::test;
using Json = nlohmann::ordered_json;

namespace {

MLIPSpec preset(const std::string &name) { return *find_preset(name); }
MLIPSpec golden_spec(const std::string &name) { return spec_of(golden(name + ".json")); }

// Both sides of "a + b".
std::pair<std::string, std::string> sides(const std::string &name)
{
  const std::size_t plus = name.find(" + ");
  return {name.substr(0, plus), name.substr(plus + 3)};
}

// "halo(local,halo_read)" or "shard".
StoragePolicy policy_named(const std::string &name)
{
  Json policy{{"kind", name.substr(0, name.find('('))}};
  if (const std::size_t open = name.find('('); open != std::string::npos) {
    const std::size_t comma = name.find(',');
    policy["scatter_mode"] = name.substr(open + 1, comma - open - 1);
    policy["gather_mode"] = name.substr(comma + 1, name.size() - comma - 2);
  }
  return spec_of(Json{{"version", 2}, {"core", {{"policy", policy}}}}).distribution.policy;
}

MLIPSpec with_policy(const StoragePolicy &policy)
{
  MLIPSpec spec;
  spec.distribution.policy = policy;
  return spec;
}

std::optional<CompilePolicy> compile_named(const std::string &name)
{
  static const std::map<std::string, std::optional<CompilePolicy>> policies{
      {"none", std::nullopt},
      {"internal", CompilePolicy{true, ForceStrategy::ModelInternal, false}},
      {"internal_dyn", CompilePolicy{false, ForceStrategy::ModelInternal, false}},
      {"node", CompilePolicy{true, ForceStrategy::FrameworkFromNodeEnergy, false}},
      {"node_strain", CompilePolicy{true, ForceStrategy::FrameworkFromNodeEnergy, true}},
      {"global", CompilePolicy{true, ForceStrategy::FrameworkFromGlobalEnergy, false}}};
  return policies.at(name);
}

}    // namespace

TEST_CASE("golden merges of specs agree, and keep the kinds that the original drops", "[merge]")
{
  const Json merges = golden("merges.json");
  REQUIRE(merges.size() == 59);
  for (const auto &[name, result] : merges.items()) {
    CAPTURE(name);
    const auto [first, second] = sides(name);
    const MLIPSpec a = golden_spec(first), b = golden_spec(second);
    std::vector<std::string> warnings;
    Json merged;
    const std::string message = error_of([&] { merged = to_wire(merge(a, b, &warnings)); });
    REQUIRE(message.empty() == (result["status"] == "ok"));
    if (result["status"] != "ok") {
      REQUIRE(contains(message, "different policies"));
      continue;
    }
    Json expected = result["value"];
    REQUIRE(expected["output_kinds"].empty());
    expected["output_kinds"] = to_wire(a)["output_kinds"];    // all goldens declare the same ones
    expected["gp_replicate_geometry"] = a.gp_replicate_geometry || b.gp_replicate_geometry;
    REQUIRE(merged.dump() == expected.dump());
    // The other golden warnings are of saving a padder, which ours never hold.
    REQUIRE(warnings.empty() != contains(result.dump(), "MLIPSpec.merge: "));
  }
}

TEST_CASE("golden merges of policies agree; refresh_halo stays what it is", "[merge]")
{
  const Json merges = golden("merge_policies.json");
  REQUIRE(merges.size() == 121);
  std::size_t unknown_mode = 0, mixed = 0, kept = 0;
  for (const auto &[name, result] : merges.items()) {
    CAPTURE(name);
    const auto [first, second] = sides(name);
    if (contains(name, "bogus")) {    // refused when read, so that merging never meets it
      REQUIRE(contains(error_of([&, &f = first, &s = second] { policy_named(f), policy_named(s); }),
                       "is not known"));
      ++unknown_mode;
      continue;
    }
    const MLIPSpec a = with_policy(policy_named(first)), b = with_policy(policy_named(second));
    Json merged;
    const std::string message =
        error_of([&] { merged = to_wire(merge(a, b).distribution.policy); });
    const PolicyKind ka = a.distribution.policy.kind, kb = b.distribution.policy.kind;
    if (has_halo_modes(ka) && has_halo_modes(kb) && ka != kb) {
      REQUIRE(result["status"] == "ok");
      REQUIRE(contains(message, "different policies"));
      ++mixed;
      continue;
    }
    REQUIRE(message.empty() == (result["status"] == "ok"));
    if (!message.empty()) continue;
    Json expected = result["value"];
    if (ka == PolicyKind::RefreshHalo && kb == ka) {
      REQUIRE(expected["kind"] == "halo");
      expected["kind"] = "refresh_halo";
      ++kept;
    }
    REQUIRE(merged.dump() == expected.dump());
  }
  REQUIRE(unknown_mode == 40);
  REQUIRE(mixed == 16);
  REQUIRE(kept == 4);
}

TEST_CASE("golden merges of compile policies agree", "[merge]")
{
  const Json merges = golden("merge_compile.json");
  REQUIRE(merges.size() == 36);
  for (const auto &[name, result] : merges.items()) {
    CAPTURE(name);
    const auto [first, second] = sides(name);
    MLIPSpec a = preset("SPEC_MPNN_HALO"), b = a;
    a.compile = compile_named(first);
    b.compile = compile_named(second);
    std::vector<std::string> warnings;
    REQUIRE(to_wire(merge(a, b, &warnings))["compile"].dump() == result["value"].dump());
    const bool strain_differs =
        a.compile && b.compile && a.compile->stress_via_strain != b.compile->stress_via_strain;
    if (!strain_differs) REQUIRE(warnings.empty() != result.contains("warnings"));
    if (strain_differs) REQUIRE(!warnings.empty());
  }
}

TEST_CASE("golden merges of single fields agree, and keep what the original drops", "[merge]")
{
  const Json merges = golden("merge_scalars.json");
  REQUIRE(merges.size() == 12);
  for (const auto &[name, entry] : merges.items()) {
    CAPTURE(name);
    const MLIPSpec a = spec_of(entry["a"]), b = spec_of(entry["b"]);
    Json expected = entry["result"]["value"];
    if (name.starts_with("gp_replicate")) expected["gp_replicate_geometry"] = true;
    if (name.starts_with("output_kinds"))
      expected["output_kinds"] =
          Json::parse(R"([["energy", "per_graph"], ["forces", "per_node"]])");
    Json merged;
    const std::string message = error_of([&] { merged = to_wire(merge(a, b)); });
    if (name.starts_with("owned {a}")) {
      REQUIRE(contains(message, "can't be owned_only and all_reduce"));
      continue;
    }
    REQUIRE(message == "");
    REQUIRE(merged.dump() == expected.dump());
  }
}

TEST_CASE("contradictions are refused by merging", "[merge]")
{
  MLIPSpec a = preset("SPEC_MPNN_HALO"), b = a;
  b.output_kinds["stress"] = OutputKind::Global;
  REQUIRE(contains(error_of([&] { merge(a, b); }), "\"stress\" different kinds"));
  b.output_kinds["stress"] = OutputKind::Unknown;
  REQUIRE(merge(a, b).output_kinds == a.output_kinds);
  REQUIRE(merge(b, a).output_kinds == a.output_kinds);

  a = b = preset("SPEC_MPNN_GP");
  b.gp_replicate_geometry = true;
  REQUIRE(contains(error_of([&] { merge(a, b); }), "must agree on gp_replicate_geometry"));
  b.distribution.policy = local_policy();
  REQUIRE(merge(a, b).gp_replicate_geometry);

  a = b = preset("SPEC_MPNN_HALO");
  a.output_kinds.clear();
  a.all_reduce_outputs = {"forces"};
  REQUIRE(contains(error_of([&] { merge(a, b); }), "can't be summed over ranks"));

  a = b = preset("SPEC_MPNN_HALO");
  a.node_energy_key.emplace("e");
  b.node_energy_key.emplace("f");
  std::vector<std::string> warnings;
  REQUIRE(merge(a, b, &warnings).node_energy_key == "e");
  REQUIRE(warnings.size() == 1);
  a.node_energy_key.emplace();
  REQUIRE(merge(a, b).node_energy_key == "f");
}

TEST_CASE("outputs are declared anew as in the golden variants, and replaced where it matters",
          "[edit]")
{
  const Json variants = golden("variants.json");
  const MLIPSpec halo = preset("SPEC_MPNN_HALO");
  const OutputSpec reduced{OutputKind::PerGraph, Reduce::AllReduce};
  const auto same = [&](const std::string &name, const MLIPSpec &spec) {
    CAPTURE(name);
    REQUIRE(to_wire(spec).dump() == variants[name]["value"].dump());
  };
  same("with_outputs stress ALL_REDUCE", with_outputs(halo, {{"stress", reduced}}));
  same("with_outputs energy UNKNOWN (keeps old kind)", with_outputs(halo, {{"energy", {}}}));
  same("with_outputs new key charges PER_NODE",
       with_outputs(halo, {{"charges", {OutputKind::PerNode, Reduce::None}}}));
  same("with_outputs energy -> GLOBAL",
       with_outputs(halo, {{"energy", {OutputKind::Global, Reduce::None}}}));
  same("with_outputs {} (no-op)", with_outputs(halo, {}));
  same("with_outputs None", with_outputs(halo, {}));
  MLIPSpec graph_parallel = preset("SPEC_MPNN_GP");
  graph_parallel.gp_replicate_geometry = true;
  same("with_outputs keeps compile + gp flag",
       with_outputs(graph_parallel, {{"x", {OutputKind::PerGraph, Reduce::None}}}));
  MLIPSpec constructed;
  constructed.output_kinds = {{"energy", OutputKind::PerNode}};
  same("ctor outputs + output_kinds conflict: outputs win",
       with_outputs(constructed, {{"energy", {OutputKind::PerGraph, Reduce::None}}}));

  // Where ours differ: a reduction declared anew replaces the old one.
  const MLIPSpec cleared = with_outputs(with_outputs(halo, {{"stress", reduced}}),
                                        {{"stress", {OutputKind::PerGraph, Reduce::None}}});
  const std::string kept_there = "with_outputs stress ALL_REDUCE then NONE (does not clear)";
  REQUIRE(variants[kept_there]["value"]["all_reduce_outputs"].size() == 1);
  REQUIRE(identical(cleared, halo));
  const std::string both_there = "with_outputs forces OWNED_ONLY then ALL_REDUCE (in both sets)";
  REQUIRE(variants[both_there]["value"]["owned_only_outputs"].size() == 1);
  const MLIPSpec moved = with_outputs(
      halo, {{"stress", {OutputKind::PerGraph, Reduce::OwnedOnly}}, {"stress", reduced}});
  REQUIRE(moved.owned_only_outputs.empty());
  REQUIRE(moved.all_reduce_outputs == std::set<std::string>{"stress"});
  REQUIRE(contains(error_of([&] {
                     with_outputs(halo, {{"forces", {OutputKind::PerNode, Reduce::AllReduce}}});
                   }),
                   "can't be summed over ranks"));
}

TEST_CASE("adapters and compile policies are set without losing the rest", "[edit]")
{
  const Json variants = golden("variants.json");
  const MLIPSpec halo = preset("SPEC_MPNN_HALO");
  MLIPSpec graph_parallel = preset("SPEC_MPNN_GP");
  const auto value = [&](const std::string &name) { return variants[name]["value"]; };
  const auto with_flag = [](Json object) {
    object["gp_replicate_geometry"] = true;
    return object;
  };
  REQUIRE(identical(with_adapters(halo, {}), halo));
  const OpAdapter fused{"ns::fused",
                        {{1, ArgTransform::GatherInputs}},
                        {{0, {OutputTransformKind::ScatterOutputs, false}}}};
  const std::vector<Adapter> adapters{
      fused, HelperAdapter(PythonHelper{"os.path", "join", {}}),
      HelperAdapter(MethodHelper{"m.x", "C", "forward", {}, "wrap"}),
      HelperAdapter(JitHelper{"m.y", "f", {}, "marshal"})};
  REQUIRE(to_wire(with_adapters(halo, adapters)).dump() ==
          value("with_adapters op+python+method").dump());
  const std::vector<Adapter> one{HelperAdapter(PythonHelper{"a", "b", {}})};
  REQUIRE(to_wire(with_adapters(graph_parallel, one)).dump() ==
          value("with_adapters keeps shard_fields").dump());

  const CompilePolicy node_strain{true, ForceStrategy::FrameworkFromNodeEnergy, true};
  const CompilePolicy internal{};
  REQUIRE(to_wire(with_compile(halo, node_strain)).dump() ==
          value("with_compile node+strain").dump());
  REQUIRE(to_wire(with_compile(graph_parallel, std::nullopt)).dump() ==
          value("with_compile(None) clears").dump());
  REQUIRE(to_wire(with_compile(halo, internal)).dump() ==
          value("with_compile graph_padder warns on to_dict").dump());

  // Where ours differ: the flag stays.
  graph_parallel.gp_replicate_geometry = true;
  const std::string drops_adapters = "with_adapters drops gp_replicate_geometry";
  REQUIRE(value(drops_adapters)["gp_replicate_geometry"] == false);
  REQUIRE(to_wire(with_adapters(graph_parallel, one)).dump() ==
          with_flag(value(drops_adapters)).dump());
  const std::string drops_compile = "with_compile drops gp_replicate_geometry";
  REQUIRE(value(drops_compile)["gp_replicate_geometry"] == false);
  REQUIRE(to_wire(with_compile(graph_parallel, internal)).dump() ==
          with_flag(value(drops_compile)).dump());
}

TEST_CASE("modes of a policy are replaced as in the golden variants", "[edit]")
{
  const Json variants = golden("variants.json");
  const MLIPSpec halo = preset("SPEC_MPNN_HALO");
  using Changes = std::vector<PolicyChange>;
  const auto same = [&](const std::string &name, const Changes &changes) {
    CAPTURE(name);
    REQUIRE(to_wire(replace_policy(halo, changes)).dump() == variants[name]["value"].dump());
  };
  same("replace_policy scatter=local", {{"scatter", "local"}});
  same("replace_policy scatter_mode=local,gather=local",
       {{"scatter_mode", "local"}, {"gather", "local"}});
  same("replace_policy no changes", {});
  same("replace_policy both alias and full name",
       {{"scatter", "local"}, {"scatter_mode", "halo_correction"}});
  const auto refusal = [](const MLIPSpec &spec, const Changes &changes) {
    return error_of([&] { replace_policy(spec, changes); });
  };
  REQUIRE(contains(refusal(halo, {{"scatter", "bogus"}}), "Legal: halo_correction or local"));
  REQUIRE(contains(refusal(halo, {{"foo", "local"}}), "no such field"));
  REQUIRE(contains(refusal(preset("SPEC_MPNN_GP"), {{"scatter_mode", "local"}}), "has no modes"));
  REQUIRE(contains(refusal(with_policy(local_policy()), {}), "no modes to change"));
}

TEST_CASE("roles of operators become transforms; explicit transforms win", "[edit]")
{
  const Json variants = golden("variants.json");
  const auto value = [&](const std::string &name) { return variants[name]["value"].dump(); };
  OpRoles roles;
  roles.gather_inputs = {0};
  const OpAdapter explicit_one{"ns::f", {{0, ArgTransform::SliceOwned}}, {}};
  REQUIRE(to_wire(with_roles(explicit_one, roles)).dump() ==
          value("OpAdapter dict entry beats role keyword"));
  roles = {{0, 1}, {2}, {3}, {0}, {1}, {2}};
  REQUIRE(to_wire(with_roles({"ns::f", {}, {}}, roles)).dump() == value("OpAdapter all roles"));
  REQUIRE(
      to_wire(OpAdapter{"ns::f", {}, {{0, {OutputTransformKind::AllReduceSum, true}}}}).dump() ==
      value("OpAdapter AllReduceSum replicated"));
  OpRoles slices;
  slices.owned_slice_inputs = {10, 2};
  REQUIRE(to_wire(with_roles({"ns::f", {}, {}}, slices)).dump() ==
          value("OpAdapter position order numeric not lexical"));
  roles.owned_slice_inputs = {0};
  REQUIRE(contains(error_of([&] { with_roles({"ns::f", {}, {}}, roles); }), "Two roles claim"));
}

TEST_CASE("helpers are written as the golden variants are", "[edit]")
{
  const Json variants = golden("variants.json");
  const auto same = [&](const std::string &name, const HelperAdapter &helper) {
    CAPTURE(name);
    REQUIRE(to_wire(helper).dump() == variants[name]["value"].dump());
  };
  same("FunctionAdapter os.path.join", PythonHelper{"json", "dumps", {}});
  same("FunctionAdapter with replacement", PythonHelper{"json", "dumps", "json:loads"});
  same("MethodAdapter class form",
       MethodHelper{"json.encoder", "JSONEncoder", "encode", "json:loads", "wrap"});
  same("JitAdapter eager", JitHelper{"m", "f", "json:loads", "eager"});
  same("lambda replacement encodes as <lambda> qualname",
       PythonHelper{"m", "f", "__main__:<lambda>.<locals>.<lambda>"});
  same("ModuleForwardAdapter",
       ModuleForwardHelper{"torch.nn.modules.linear.Linear.forward", "lbl"});
}
