// If these fail, a spec file with a slip in it, or a wrong file of reference values, runs with
// other numbers than its author meant.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <variant>

#include "base/error.h"
#include "catch.h"
#include "pair/native_run.h"
#include "potentials/dftd3/d3_functionals.h"
#include "potentials/dftd3/d3_parameters.h"
#include "potentials/dftd3/d3_reference.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

ModelSpec model_with(const nlohmann::json &parameters)
{
  ModelSpec model;
  model.potential = "dftd3";
  model.cutoff = 15.0;
  model.elements = {"Na", "Cl"};
  model.parameters = parameters;
  return model;
}

template <class Call>
std::string refusal(const Call &call)
{
  try {
    call();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

std::string refused(const nlohmann::json &parameters)
{
  return refusal([&] { read_d3_parameters(model_with(parameters)); });
}

// A file of this text that is gone at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string &text)
      : path_(std::filesystem::temp_directory_path() /
              ("mlip_dd_d3_" + std::to_string(getpid()) + ".json"))
  {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}    // namespace

TEST_CASE("functionals have their published numbers")
{
  const auto bj = std::get<D3BeckeJohnson>(
      read_d3_parameters(model_with({{"functional", "pbe"}, {"damping", "bj"}})).damping);
  CHECK(bj.s6 == 1.0);
  CHECK(bj.s8 == 0.7875);
  CHECK(bj.a1 == 0.4289);
  CHECK(bj.a2 == 4.4407);
  const auto zero = std::get<D3Zero>(
      read_d3_parameters(model_with({{"functional", "b2plyp"}, {"damping", "zero"}})).damping);
  CHECK(zero.s6 == 0.64);
  CHECK(zero.s8 == 1.022);
  CHECK(zero.sr6 == 1.427);
  CHECK(zero.sr8 == 1.0);
  for (const auto functional : {"pbe", "b3lyp", "blyp", "pbe0", "tpss", "revpbe", "b2plyp", "hf"}) {
    CHECK(find_d3_bj(functional));
    CHECK(find_d3_zero(functional));
  }
}

TEST_CASE("cutoffs and switches follow from each other where they are not given")
{
  D3Parameters found = read_d3_parameters(
      model_with({{"functional", "pbe"}, {"damping", "bj"}, {"switch_width", 2.0}}));
  CHECK(found.cn_cutoff == 15.0);
  CHECK(found.cn_switch_width == 2.0);
  CHECK(found.s9 == 0.0);
  found = read_d3_parameters(model_with(
      {{"functional", "pbe"}, {"damping", "bj"}, {"switch_width", 2.0}, {"three_body", true}}));
  CHECK(found.s9 == 1.0);
  CHECK(found.three_body_cutoff == 15.0);
  CHECK(found.three_body_switch_width == 2.0);
  ModelSpec far = model_with({{"functional", "pbe"}, {"damping", "bj"}});
  far.cutoff = 50.0;
  found = read_d3_parameters(far);
  CHECK(found.cutoff == 50.0);
  CHECK(found.cn_cutoff == Approx(40.0 * 0.529177210544));
}

TEST_CASE("DFT-D3 parameters that do not fit are refused with key, value and cure")
{
  CHECK(refused({{"functional", "pbe"}, {"damping", "bj"}}).empty());
  CHECK(refused({{"damping", "bj"}, {"s8", 1.0}, {"a1", 0.4}, {"a2", 4.0}}).empty());
  CHECK(refused({{"damping", "zero"}, {"s8", 1.0}, {"sr6", 1.2}}).empty());
  CHECK(refused({{"functional", "pbe"}, {"damping", "bj"}, {"three_body", false}}).empty());
  CHECK_THAT(refused({{"functional", "pbe"}}), contains("damping"));
  CHECK_THAT(refused({{"functional", "pbe"}, {"damping", "bjm"}}), contains("bjm"));
  CHECK_THAT(refused({{"functional", "pbee"}, {"damping", "bj"}}),
             contains("pbee") && contains("Did you mean \"pbe\""));
  CHECK_THAT(refused({{"functional", "r2scan"}, {"damping", "zero"}}), contains("r2scan"));
  CHECK_THAT(refused({{"damping", "bj"}, {"s8", 1.0}, {"a1", 0.4}}), contains("\"a2\""));
  CHECK_THAT(refused({{"functional", "pbe"}, {"damping", "bj"}, {"a1", 0.4}}),
             contains("/model/parameters/a1"));
  CHECK_THAT(refused({{"damping", "bj"}, {"sr6", 1.0}}), contains("zero damping"));
  CHECK_THAT(refused({{"damping", "zero"}, {"a1", 1.0}}), contains("Becke-Johnson"));
  CHECK_THAT(refused({{"functional", "pbe"}, {"damping", "bj"}, {"s9", 1.0}}),
             contains("/model/parameters/s9") && contains("three-body"));
  CHECK_THAT(refused({{"functional", "pbe"},
                      {"damping", "bj"},
                      {"three_body", true},
                      {"three_body_cutoff", 5.0},
                      {"switch_width", 6.0}}),
             contains("wider than the cutoff"));
  CHECK_THAT(refused({{"functional", "pbe"}, {"damping", "bj"}, {"cn_cutof", 9.0}}),
             contains("Did you mean \"cn_cutoff\""));
  CHECK_THAT(refused({{"functional", "pbe"}, {"damping", "bj"}, {"switch_width", 16.0}}),
             contains("wider than the cutoff"));
  CHECK_THAT(
      refused({{"functional", "pbe"}, {"damping", "bj"}, {"switch_width", 2}, {"cn_cutoff", 1}}),
      contains("cn_switch_width"));
}

TEST_CASE("a missing, foreign or incomplete file of reference values is refused with its cure")
{
  const auto read = [](const std::string &file, const std::vector<std::string> &elements) {
    return refusal([&] { read_d3_reference(file, elements); });
  };
  const std::string good = golden_path("dftd3_reference_subset.json");
  CHECK(read(good, {"Na", "Cl"}).empty());
  CHECK_THAT(read("/nonexistent/d3.json", {"Na"}),
             contains("/nonexistent/d3.json") && contains("d3-reference"));
  CHECK_THAT(read(good, {"Na", "Am"}), contains("\"Am\"") && contains("95"));
  CHECK_THAT(read(golden_path("lj_argon108_rc7.json"), {"Na"}), contains("no file of DFT-D3"));
  std::ifstream stream(good);
  nlohmann::json cut = nlohmann::json::parse(stream);
  cut.erase("cutoff_radii");
  const TemporaryFile incomplete(cut.dump());
  CHECK_THAT(read(incomplete.path(), {"Na"}), contains("not complete"));
  cut = nlohmann::json::parse(std::ifstream(good));
  cut["c6"][4][0] = {{1.0}};
  std::ofstream(incomplete.path()) << cut.dump();
  CHECK_THAT(read(incomplete.path(), {"Na", "H"}), contains("not complete"));
}

TEST_CASE("a spec without a file of reference values takes the usual one")
{
  const std::string good = golden_path("dftd3_reference_subset.json");
  setenv("MLIP_DD_D3_REFERENCE", good.c_str(), 1);
  CHECK(usual_d3_reference() == good);
  CHECK(read_d3_reference("", {"Cl", "Na"}).r4r2[0] == Approx(3.729323625564575));
  unsetenv("MLIP_DD_D3_REFERENCE");
  setenv("XDG_DATA_HOME", "/somewhere", 1);
  CHECK(usual_d3_reference() == "/somewhere/mlip-dd/dftd3-reference.json");
  unsetenv("XDG_DATA_HOME");
}

TEST_CASE("values stand with the right elements, whatever their order")
{
  const std::string good = golden_path("dftd3_reference_subset.json");
  const D3Reference one = read_d3_reference(good, {"H", "C"});
  const D3Reference other = read_d3_reference(good, {"C", "H"});
  CHECK(one.coordination[0] == other.coordination[1]);
  REQUIRE(one.c6[1].size() == 10);
  CHECK(one.c6[1] == other.c6[2]);    // H-C: rows of hydrogen's references
  CHECK(other.c6[1][2] == one.c6[1][1]);
  CHECK(one.c6[1][0] == Approx(12.1402).epsilon(1e-6));
  CHECK(one.c6[1][5] == Approx(19.2653).epsilon(1e-6));
  CHECK(one.cutoff_radius[1] == other.cutoff_radius[2]);
}
