// If these fail, a mistake in a `model` object goes unnoticed until the run, or a correct one is
// read as something else.
#include "catch.h"
#include "golden.h"
#include "spec/model_read.h"
#include "spec/spec_file.h"

using namespace mlip_dd;
using namespace mlip_dd::test;
using Json = nlohmann::ordered_json;

namespace {

const Json kSevenNet = Json::parse(R"({"spec": "SPEC_MPNN_HALO",
  "model": {"potential": "torchscript", "family": "sevennet", "file": "sevennet.pt", "cutoff": 5.0,
            "layers": 5, "elements": ["H", "He"], "units": "metal", "dtype": "float32"}})");
const Json kGeneric = Json::parse(R"({"spec": "SPEC_MPNN_HALO",
  "model": {"potential": "torchscript", "family": "generic", "file": "toy.pt", "cutoff": 5,
            "elements": ["Ar"], "inputs": {"types": "types", "edge_index": "edge_index"},
            "outputs": {"node_energy": "node_energy"}}})");

SpecFile read(const Json &object) { return read_spec_text(object.dump(), "/here/specs/s.json"); }

// The refusal of an object with one value changed (null removes it).
std::string refusal(Json object, const std::string &pointer, const Json &value)
{
  const Json::json_pointer place(pointer);
  if (value.is_null())
    object[place.parent_pointer()].erase(place.back());
  else
    object[place] = value;
  return error_of([&] { read(object); });
}

}    // namespace

TEST_CASE("a model object is read with its family's names and an absolute path", "[model]")
{
  const SpecFile file = read(kSevenNet);
  REQUIRE(file.path == "/here/specs/s.json");
  REQUIRE(file.spec.distribution.policy == halo_policy());
  REQUIRE(file.warnings.empty());
  const ModelSpec &model = *file.model;
  REQUIRE(model.potential == "torchscript");
  REQUIRE(model.family == "sevennet");
  REQUIRE(model.file == "/here/specs/sevennet.pt");
  REQUIRE(model.cutoff == 5.0);
  REQUIRE(model.layers == 5);
  REQUIRE(model.elements == std::vector<std::string>{"H", "He"});
  REQUIRE(model.units == "metal");
  REQUIRE(model.dtype == "float32");
  REQUIRE(model.inputs.at("edge_vectors") == "edge_vec");
  REQUIRE(model.outputs.at("node_energy") == "atomic_energy");
  REQUIRE(model.parameters == nlohmann::json::object());
}

TEST_CASE("a model's own names stand over its family's", "[model]")
{
  Json object = kSevenNet;
  object["model"]["inputs"] = {{"edge_vectors", "vectors"}};
  const SpecFile file = read(object);
  REQUIRE(file.model->inputs.at("edge_vectors") == "vectors");
  REQUIRE(file.model->inputs.at("types") == "x");
  REQUIRE(read(kGeneric).model->inputs ==
          std::map<std::string, std::string>{{"types", "types"}, {"edge_index", "edge_index"}});
}

TEST_CASE("a file among a native potential's parameters is taken from that folder too", "[model]")
{
  const Json object = {{"spec", "SPEC_DFTD3_HALO"},
                       {"model",
                        {{"potential", "dftd3"},
                         {"elements", {"C"}},
                         {"cutoff", 9.0},
                         {"parameters", {{"damping", "bj"}, {"reference", "tables/./d3.json"}}}}}};
  REQUIRE(read(object).model->parameters ==
          nlohmann::json{{"damping", "bj"}, {"reference", "/here/specs/tables/d3.json"}});
}

TEST_CASE("paths are taken from the folder of the spec file", "[model]")
{
  Json object = kGeneric;
  object["model"]["file"] = "../models/./toy.pt";
  object["model"]["libraries"] = {"lib/libops.so", "/opt/libother.so"};
  const ModelSpec model = *read(object).model;
  REQUIRE(model.file == "/here/models/toy.pt");
  REQUIRE(model.libraries ==
          std::vector<std::string>{"/here/specs/lib/libops.so", "/opt/libother.so"});
}

TEST_CASE("native potentials need no file", "[model]")
{
  const auto ewald = read_spec_text(
      R"({"spec": "SPEC_EWALD_HALO", "model": {"potential": "ewald", "elements": ["Na", "Cl"],
          "parameters": {"accuracy": 1e-8}}})",
      "s.json");
  REQUIRE_FALSE(ewald.model->cutoff);
  REQUIRE(ewald.model->parameters.at("accuracy") == 1e-8);
  REQUIRE(ewald.model->family.empty());
  const auto dimensionless = read_spec_text(
      R"({"spec": "SPEC_LJ_HALO", "model": {"potential": "lj", "elements": ["small", "large"],
          "units": "lj", "cutoff": 2.5}})",
      "s.json");
  REQUIRE(dimensionless.model->elements.front() == "small");
}

TEST_CASE("a written spec file reads back to the same values", "[model]")
{
  for (const Json &object : {kSevenNet, kGeneric}) {
    const SpecFile file = read(object);
    const SpecFile again = read_spec_text(to_json(file).dump(), "/else/t.json");
    REQUIRE(again.model == file.model);
    REQUIRE(identical(again.spec, file.spec));
  }
}

TEST_CASE("mistakes in a model object are refused with pointer and cure", "[model]")
{
  struct Mistake {
    std::string pointer;
    Json value;
    std::vector<std::string> says;
  };
  const std::vector<Mistake> mistakes{
      {"/model/cutof", 5, {"/model/cutof", "Did you mean \"cutoff\"?"}},
      {"/model/potential", nullptr, {"names no potential", "torchscript"}},
      {"/model/potential", "torchscrip", {"Did you mean \"torchscript\"?", "dftd3"}},
      {"/model/potential", 3, {"/model/potential", "found: 3"}},
      {"/model/family", "sevenet", {"/model/family", "Did you mean \"sevennet\"?"}},
      {"/model/file", nullptr, {"needs a model file", "\"file\""}},
      {"/model/file", "", {"/model/file", "must not be empty"}},
      {"/model/file", 1, {"must be a string"}},
      {"/model/file", std::string("a\0b", 3), {"NUL"}},
      {"/model/cutoff", nullptr, {"needs a cutoff", "Add \"cutoff\""}},
      {"/model/cutoff", 0, {"/model/cutoff", "above zero"}},
      {"/model/cutoff", -5.0, {"above zero", "found: -5.0"}},
      {"/model/cutoff", "5", {"must be a number"}},
      {"/model/layers", -1, {"/model/layers", "0 or more"}},
      {"/model/layers", 2.5, {"whole number"}},
      {"/model/layers", 1e30, {"whole number"}},
      {"/model/elements", nullptr, {"elements are missing"}},
      {"/model/elements", Json::array(), {"has no elements"}},
      {"/model/elements", "Na", {"must be an array"}},
      {"/model/elements/1", "he", {"/model/elements/1", "Did you mean \"He\"?"}},
      {"/model/elements/1", "H", {"/model/elements/1", "stands twice"}},
      {"/model/elements/1", 2, {"must be a string"}},
      {"/model/units", "metl", {"Did you mean \"metal\"?"}},
      {"/model/dtype", "float46", {"Did you mean \"float64\"?"}},
      {"/model/inputs",
       Json{{"edge_vector", "e"}},
       {"/model/inputs/edge_vector", "Did you mean \"edge_vectors\"?"}},
      {"/model/inputs", Json{{"types", "edge_index"}}, {"Give each a name of its own"}},
      {"/model/inputs", Json{{"types", 1}}, {"must be a string"}},
      {"/model/outputs", Json{{"node_energies", "e"}}, {"Did you mean \"node_energy\"?"}},
      {"/model/libraries", "lib.so", {"must be an array"}},
      {"/model/parameters", 1, {"must be an object"}},
      {"/model", "x", {"\"model\" must be an object"}},
  };
  for (const Mistake &mistake : mistakes) {
    CAPTURE(mistake.pointer, mistake.value.dump());
    const std::string message = refusal(kSevenNet, mistake.pointer, mistake.value);
    CAPTURE(message);
    REQUIRE(contains(message, "/here/specs/s.json"));
    for (const std::string &part : mistake.says) REQUIRE(contains(message, part));
  }
  REQUIRE(contains(refusal(kGeneric, "/model/inputs", nullptr), "no names of its own"));
  REQUIRE(contains(refusal(kGeneric, "/model/outputs", nullptr), "no names of its own"));
  const Json lj = Json::parse(R"({"spec": "SPEC_LJ_HALO",
      "model": {"potential": "lj", "elements": ["Ar"], "cutoff": 7}})");
  REQUIRE(refusal(lj, "/model/units", "metal") == "");
  REQUIRE(contains(refusal(lj, "/model/cutoff", nullptr), "needs a cutoff"));
  REQUIRE(contains(refusal(lj, "/model/file", "x.pt"), "without a model file"));
  REQUIRE(contains(refusal(lj, "/model/family", "sevennet"), "without a model file"));
}
