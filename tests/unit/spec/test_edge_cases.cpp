// If these fail, a file that other programs write or read means something else here, or something
// that we promise to refuse (the table in specs/README.md) gets through.
#include <map>

#include "catch.h"
#include "golden.h"
#include "spec/spec_file.h"
#include "spec/wire.h"

namespace {

using namespace mlip_dd;
using namespace mlip_dd::test;
using Json = nlohmann::ordered_json;

// Golden cases that the original accepts and the strict reader refuses, with what it must say.
const std::map<std::string, std::string> kStricter{
    {"halo unknown scatter mode (accepted verbatim)", "The scatter_mode is not known"},
    {"halo scatter_mode distributed (doc-only value, accepted)", "The scatter_mode is not known"},
    {"halo unknown gather mode", "The gather_mode is not known"},
    {"halo scatter_mode null", "The scatter_mode is not known"},
    {"halo scatter_mode int", "The scatter_mode is not known"},
    {"halo unknown extra key ignored", "The key \"foo\" is not known here"},
    {"graph_parallel with scatter_mode ignored", "The key \"scatter_mode\" is not known here"},
    {"unknown top-level key ignored", "The key \"foo\" is not known here"},
    {"unknown core key ignored", "The key \"foo\" is not known here"},
    {"'outputs' top-level key ignored", "The key \"outputs\" is not known here"},
    {"'adapters' core key ignored", "The key \"adapters\" is not known here"},
    {"output_kinds non-string key", "The name of an output must be a string"},
    {"output_kinds mixed key types (to_dict sort fails)", "The name of an output must be a string"},
    {"compile static_shapes non-bool kept", "\"static_shapes\" must be true or false"},
    {"compile stress_via_strain null kept", "\"stress_via_strain\" must be true or false"},
    {"compile unknown key ignored", "The key \"graph_padder\" is not known here"},
    {"system_reductions null kept as null", "\"system_reductions\" must be true or false"},
    {"system_reductions string kept", "\"system_reductions\" must be true or false"},
    {"node_energy_key int kept", "\"node_energy_key\" must be a string"},
    {"gp_replicate_geometry null kept", "\"gp_replicate_geometry\" must be true or false"},
    {"owned_only string becomes set of characters", "\"owned_only_outputs\" must be an array"},
    {"owned_only dict -> keys", "\"owned_only_outputs\" must be an array"},
    {"owned_only mixed types", "A name in \"owned_only_outputs\" must be a string"},
    {"key in both sets accepted", "is in owned_only_outputs and in all_reduce_outputs"},
    {"shard_fields string -> characters", "\"shard_fields\" must be an array"},
    {"op extra key ignored", "The key \"foo\" is not known here"},
    {"all_reduce_sum replicated_consumer non-bool kept",
     "\"replicated_consumer\" must be true or false"},
    {"helper unknown extra key ignored", "The key \"foo\" is not known here"},
};

// Cases that the original refuses because an operator is not loaded; ours is looked up on use.
const std::map<std::string, std::string> kResolvedLater{
    {"op unregistered in known namespace", "nvalchemi::does_not_exist"},
    {"op unknown namespace", "nosuchns::f"},
};

// What the original loses on load and ours keeps: JSON pointer and value in our re-encoding.
const std::map<std::string, std::pair<std::string, std::string>> kKept{
    {"helper python unresolvable replacement -> null + warning",
     {"/core/third_party_helpers/0/replacement", "nosuch.mod:f"}},
    {"helper python replacement without colon -> null + warning",
     {"/core/third_party_helpers/0/replacement", "jsondumps"}},
    {"helper python replacement with <locals>",
     {"/core/third_party_helpers/0/replacement", "json:a.<locals>.b"}},
    {"helper module_forward", {"/core/third_party_helpers/0/target", "a.B.forward"}},
};

// What the lenient reader makes of values that have no meaning, where the original carries them.
const std::map<std::string, std::pair<std::string, Json>> kLenientMeaning{
    {"halo unknown scatter mode (accepted verbatim)", {"/core/policy/scatter_mode", "local"}},
    {"halo scatter_mode distributed (doc-only value, accepted)",
     {"/core/policy/scatter_mode", "local"}},
    {"halo unknown gather mode", {"/core/policy/gather_mode", "local"}},
    {"halo scatter_mode null", {"/core/policy/scatter_mode", "local"}},
    {"halo scatter_mode int", {"/core/policy/scatter_mode", "local"}},
    {"output_kinds non-string key", {"/output_kinds/0/0", "1"}},
    {"compile static_shapes non-bool kept", {"/compile/static_shapes", true}},
    {"compile stress_via_strain null kept", {"/compile/stress_via_strain", false}},
    {"system_reductions null kept as null", {"/system_reductions", false}},
    {"system_reductions string kept", {"/system_reductions", true}},
    {"node_energy_key int kept", {"/node_energy_key", "3"}},
    {"gp_replicate_geometry null kept", {"/gp_replicate_geometry", false}},
    {"all_reduce_sum replicated_consumer non-bool kept",
     {"/core/custom_ops/0/output_transforms/0/replicated_consumer", true}},
};

Json with(Json value, const std::string &pointer, const Json &part)
{
  value[Json::json_pointer(pointer)] = part;
  return value;
}

Json expected(const Json &entry)
{
  const auto kept = kKept.find(entry["name"]);
  return kept == kKept.end() ? entry["canonical"]
                             : with(entry["canonical"], kept->second.first, kept->second.second);
}

}    // namespace

TEST_CASE("every golden object is accepted or refused as the original does, or on purpose",
          "[wire]")
{
  const Json cases = golden("edge_cases.json")["from_dict_cases"];
  REQUIRE(cases.size() == 174);
  std::size_t stricter = 0, later = 0, kept = 0;
  for (const Json &entry : cases) {
    const std::string name = entry["name"];
    CAPTURE(name, entry["input"].dump());
    Json written;
    const std::string message = error_of([&] { written = to_wire(spec_of(entry["input"])); });
    if (const auto refusal = kStricter.find(name); refusal != kStricter.end()) {
      REQUIRE(entry["status"] != "error");
      REQUIRE(contains(message, refusal->second));
      ++stricter;
    } else if (const auto op = kResolvedLater.find(name); op != kResolvedLater.end()) {
      REQUIRE(entry["status"] == "error");
      REQUIRE(message.empty());
      REQUIRE(written["core"]["custom_ops"][0]["op"] == op->second);
      ++later;
    } else if (entry["status"] == "error") {
      REQUIRE(!message.empty());
    } else {
      REQUIRE(message == "");
      // Compared as text, so that the order of keys counts.
      REQUIRE(written.dump() == expected(entry).dump());
      if (kKept.contains(name)) ++kept;
    }
  }
  REQUIRE(stricter == kStricter.size());
  REQUIRE(later == kResolvedLater.size());
  REQUIRE(kept == kKept.size());
}

TEST_CASE("the lenient reader accepts what the original does and says what it made of it", "[wire]")
{
  const Json cases = golden("edge_cases.json")["from_dict_cases"];
  std::size_t warned = 0;
  for (const Json &entry : cases) {
    const std::string name = entry["name"];
    CAPTURE(name, entry["input"].dump());
    std::vector<std::string> warnings;
    Json written;
    const std::string message =
        error_of([&] { written = to_wire(spec_of(entry["input"], Reading::Lenient, &warnings)); });
    if (kResolvedLater.contains(name)) continue;
    if (entry["status"] == "error") {
      REQUIRE(!message.empty());
      continue;
    }
    REQUIRE(message == "");
    REQUIRE(warnings.empty() != kStricter.contains(name));
    if (!warnings.empty()) ++warned;
    if (entry["status"] != "ok") continue;
    Json canonical = expected(entry);
    if (const auto meaning = kLenientMeaning.find(name); meaning != kLenientMeaning.end())
      canonical = with(canonical, meaning->second.first, meaning->second.second);
    REQUIRE(written.dump() == canonical.dump());
  }
  REQUIRE(warned == kStricter.size());
}

TEST_CASE("every golden file is accepted or refused as the original does", "[wire]")
{
  const Json cases = golden("edge_cases.json")["file_cases"];
  REQUIRE(cases.size() == 8);
  for (const Json &entry : cases) {
    CAPTURE(entry["name"]);
    TemporaryFolder folder;
    const std::string path = entry.contains("text") ? folder.write("spec.json", entry["text"])
                                                    : folder.path() + "/nonexistent.json";
    Json written;
    const std::string message = error_of([&] { written = to_json(read_spec_file(path)); });
    REQUIRE(message.empty() == (entry["status"] == "ok"));
    if (entry["status"] == "ok") REQUIRE(written.dump() == entry["canonical"].dump());
    if (!message.empty()) REQUIRE(contains(message, path));
  }
}

TEST_CASE("the table of differences lists every case", "[wire]")
{
  const std::string table = source_file("specs/README.md");
  for (const auto &[name, message] : kStricter) {
    CAPTURE(name);
    REQUIRE(contains(table, name));
  }
  for (const auto &[name, op] : kResolvedLater) {
    CAPTURE(name);
    REQUIRE(contains(table, name));
  }
  for (const auto &[name, kept] : kKept) {
    CAPTURE(name);
    REQUIRE(contains(table, name));
  }
}
