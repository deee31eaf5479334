// If these fail, a preset's name no longer means what it means elsewhere, or a file in specs/ that
// users copy can't be read.
#include <algorithm>
#include <filesystem>

#include "catch.h"
#include "golden.h"
#include "spec/families.h"
#include "spec/potentials.h"
#include "spec/presets.h"
#include "spec/schema.h"
#include "spec/spec_file.h"
#include "spec/wire.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

TEST_CASE("presets equal the golden ones", "[presets]")
{
  REQUIRE(presets().size() == 7);
  for (const Preset &preset : presets()) {
    CAPTURE(preset.name);
    const auto spec = find_preset(preset.name);
    REQUIRE(spec);
    REQUIRE(to_wire(*spec).dump() == golden(std::string(preset.name) + ".json").dump());
  }
  REQUIRE_FALSE(find_preset("SPEC_NONE"));
}

TEST_CASE("specs/ holds every preset as it is saved", "[presets]")
{
  for (const Preset &preset : presets()) {
    CAPTURE(preset.name);
    REQUIRE(source_file("specs/" + std::string(preset.name) + ".json") ==
            write_wire_text(*find_preset(preset.name)));
  }
}

TEST_CASE("specs/ holds a readable spec for every family and native potential", "[presets]")
{
  std::vector<std::string> names;
  for (const Family &family : families()) names.emplace_back(family.name);
  for (const PotentialInfo &potential : known_potentials())
    if (!potential.has_file) names.emplace_back(potential.name);
  for (const std::string &name : names) {
    CAPTURE(name);
    const SpecFile file =
        read_spec_file(std::string(MLIP_DD_SOURCE_DIR) + "/specs/" + name + ".json");
    REQUIRE(file.warnings.empty());
    REQUIRE(file.model);
    REQUIRE((file.model->family == name || file.model->potential == name));
  }
}

TEST_CASE("every other file in specs/ can be read too", "[presets]")
{
  std::size_t read = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(std::string(MLIP_DD_SOURCE_DIR) + "/specs")) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".json") || path.ends_with(".schema.json")) continue;
    CAPTURE(path);
    REQUIRE(error_of([&] { read_spec_file(path); }) == "");
    ++read;
  }
  REQUIRE(read > presets().size());
}

TEST_CASE("the schema in specs/ is the one of the tables", "[presets]")
{
  // To renew it: mlip-dd schema > specs/spec.schema.json
  REQUIRE(source_file("specs/spec.schema.json") == spec_schema().dump(2, ' ', true) + "\n");
}
