// If these fail, a pipeline file is read as another pipeline, or one that can't run is taken.
#include "catch.h"
#include "golden.h"
#include "spec/spec_file.h"

using namespace mlip_dd;
using namespace mlip_dd::test;
using Json = nlohmann::ordered_json;

namespace {

Json model(const std::string &potential)
{
  return {{"spec", "SPEC_LJ_HALO"},
          {"model", {{"potential", potential}, {"elements", {"Ar"}}, {"cutoff", 7.0}}}};
}

Json pipeline(const Json &models, const Json &groups)
{
  return {{"pipeline", {{"models", models}, {"groups", groups}}}};
}

SpecFile read(const Json &object) { return read_spec_text(object.dump(), "/here/p.json"); }

std::string refusal(const Json &object)
{
  return error_of([&] { read(object); });
}

const Json kThree{{"a", model("lj")}, {"b", model("ewald")}, {"c", model("dftd3")}};

Json group(const Json &steps, bool autograd = true)
{
  return Json::array({Json{{"steps", steps}, {"autograd", autograd}}});
}

}    // namespace

TEST_CASE("a pipeline is read with its files, wires and defaults", "[pipeline]")
{
  TemporaryFolder folder;
  folder.write("sub/b.json", model("ewald").dump());
  const Json object = pipeline(
      {{"a", model("lj")}, {"b", "sub/b.json"}},
      Json::array({Json{
          {"steps", Json::array({"a", Json{{"model", "b"}, {"wire", {{"charges", "a.q.raw"}}}}})},
          {"autograd", true}}}));
  const SpecFile file = read_spec_file(folder.write("p.json", object.dump()));
  REQUIRE_FALSE(file.model);
  const PipelineSpec &read = *file.pipeline;
  REQUIRE(read.models.at("a").path == folder.path() + "/p.json");
  REQUIRE(read.models.at("b").path == folder.path() + "/sub/b.json");
  REQUIRE(read.models.at("b").model.potential == "ewald");
  REQUIRE(read.models.at("b").spec.distribution.policy == halo_policy());
  REQUIRE(read.groups.size() == 1);
  REQUIRE(read.groups[0].autograd);
  REQUIRE(read.groups[0].steps[0] == PipelineStep{"a", {}});
  REQUIRE(read.groups[0].steps[1] == PipelineStep{"b", {{"charges", {"a", "q.raw"}}}});
  REQUIRE(read.additive == std::vector<std::string>{"energy", "forces", "stress"});

  const SpecFile again = read_spec_text(to_json(file).dump(), "/else/t.json");
  REQUIRE(again.pipeline->groups == read.groups);
  REQUIRE(again.pipeline->models.at("b").model == read.models.at("b").model);
}

TEST_CASE("a group's wires say the same as a step's", "[pipeline]")
{
  Json groups = group({"a", "b", "c"});
  groups[0]["wire"] = {{"b.charges", "a.q"}, {"c.field", "b.potential"}};
  const auto by_group = read(pipeline(kThree, groups)).pipeline->groups;
  const auto by_step =
      read(pipeline(kThree, group({"a",
                                   {{"model", "b"}, {"wire", {{"charges", "a.q"}}}},
                                   {{"model", "c"}, {"wire", {{"field", "b.potential"}}}}})))
          .pipeline->groups;
  REQUIRE(by_group == by_step);
}

TEST_CASE("weights and neutral charges", "[pipeline]")
{
  const Json step{{"model", "b"},
                  {"wire", {{"charges", "a.q"}}},
                  {"weight", 0.5},
                  {"neutralize", "shift"},
                  {"total_charge", -1.0}};
  const PipelineSpec spec = *read(pipeline(kThree, group({"a", step, "c"}))).pipeline;
  const PipelineStep &b = spec.groups[0].steps[1];
  REQUIRE(b.weight == 0.5);
  REQUIRE(b.neutralize == Neutralize::Shift);
  REQUIRE(b.total_charge == -1.0);
  REQUIRE(spec.groups[0].steps[0] == PipelineStep{"a"});
  const SpecFile whole = read(pipeline(kThree, group({"a", step, "c"})));
  REQUIRE(read_spec_text(to_json(whole).dump(), "/else/t.json").pipeline->groups == spec.groups);

  const auto with = [](const std::string &key, const Json &value) {
    return refusal(pipeline(kThree, group({Json{{"model", "a"}, {key, value}}, "b", "c"})));
  };
  REQUIRE(contains(with("every", 5), "evaluated at each timestep"));
  REQUIRE(contains(with("weight", "x"), "weight"));
  REQUIRE(contains(with("neutralize", "shft"), "Did you mean \"shift\"?"));
  REQUIRE(contains(with("neutralize", "shift"), "none are wired"));
  REQUIRE(contains(with("total_charge", 1.0), "only with \"neutralize\""));
  REQUIRE(contains(refusal(pipeline(kThree, group({"a", step, "c"}, false))), "Set \"autograd\": true"));
}

TEST_CASE("pipelines that can't run are refused", "[pipeline]")
{
  const auto wired = [](const std::string &source) {
    return Json{{"model", "b"}, {"wire", {{"charges", source}}}};
  };
  REQUIRE(contains(refusal(pipeline(kThree, group({"a", "b"}))), "\"c\" stands in no step"));
  REQUIRE(contains(refusal(pipeline(kThree, group({"a", "b", "c", "a"}))), "stands in two steps"));
  REQUIRE(
      contains(refusal(pipeline(kThree, group({"a", "b", "c", "d"}))), "no model of the pipeline"));
  REQUIRE(contains(refusal(pipeline(kThree, group({"a", wired("d.q"), "c"}))),
                   "no model of its group"));
  REQUIRE(contains(refusal(pipeline(kThree, group({"a", wired("q"), "c"}))), "<model>.<output>"));
  REQUIRE(contains(refusal(pipeline(kThree, group({"a", wired("b.q"), "c"}))), "wired to itself"));
  const std::string circle = refusal(
      pipeline(kThree, group({{{"model", "a"}, {"wire", {{"x", "b.q"}}}}, wired("a.q"), "c"})));
  REQUIRE(contains(circle, "round in a circle among \"a\" \"b\""));
  Json twice = group({"a", wired("a.q"), "c"});
  twice[0]["wire"] = {{"b.charges", "c.q"}};
  REQUIRE(contains(refusal(pipeline(kThree, twice)), "is wired twice"));
  Json nowhere = group({"a", "b", "c"});
  nowhere[0]["wire"] = {{"d.charges", "c.q"}};
  REQUIRE(contains(refusal(pipeline(kThree, nowhere)), "leads to an input"));
  Json misspelt = group({"a", "b", "c"});
  misspelt[0]["autogard"] = true;
  REQUIRE(contains(refusal(pipeline(kThree, misspelt)), "Did you mean \"autograd\"?"));
  REQUIRE(contains(refusal(pipeline(Json::object(), group({"a"}))), "needs a model"));
  REQUIRE(contains(refusal(pipeline(kThree, Json::array())), "needs a group"));
  REQUIRE(contains(refusal(pipeline({{"a", "none.json"}}, group({"a"}))),
                   "/here/none.json does not exist"));
  REQUIRE(contains(refusal(pipeline({{"a", pipeline(kThree, group({"a"}))}}, group({"a"}))),
                   "can't be a pipeline"));
  REQUIRE(contains(refusal(pipeline({{"a.b", model("lj")}}, group({"a.b"}))), "a dot"));
  REQUIRE(contains(refusal(pipeline({{"a", {{"spec", "SPEC_LJ_HALO"}}}}, group({"a"}))),
                   "needs a \"model\" object"));
  Json both = pipeline(kThree, group({"a", "b", "c"}));
  both["model"] = model("lj")["model"];
  REQUIRE(contains(refusal(both), "either a model or a pipeline"));
  both.erase("model");
  both["spec"] = "SPEC_LJ_HALO";
  REQUIRE(contains(refusal(both), "a spec of its own"));
  both.erase("spec");
  both["core"] = Json::object();
  REQUIRE(contains(refusal(both), "\"core\" is not known here"));
}
