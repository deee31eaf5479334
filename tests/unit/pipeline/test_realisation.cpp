// If these fail, a spec's policy is ignored, or carried out in a way that gives other numbers on
// several ranks.
#include <string>

#include "base/error.h"
#include "catch.h"
#include "pipeline/realisation.h"
#include "spec/spec_file.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

SpecFile file_with(const std::string &policy, const std::string &more = "",
                   const std::string &layers = "3")
{
  return read_spec_text(
      R"({"version": 2, "core": {"policy": )" + policy + R"(}, )" + more +
          R"("model": {"potential": "torchscript", "family": "sevennet", "file": "m.pt",
                             "cutoff": 5.0, )" +
          (layers.empty() ? "" : "\"layers\": " + layers + ", ") + R"("elements": ["H"]}})",
      "test.json");
}

}    // namespace

TEST_CASE("each policy has its realisation, by number of ranks and what the user asks")
{
  struct Row {
    const char *policy, *halo;
    int ranks;
    HaloMode mode;
    int layers_held;
  };
  const std::vector<Row> rows{
      {R"({"kind": "halo"})", "auto", 4, HaloMode::exchange, 1},
      {R"({"kind": "halo"})", "exchange", 4, HaloMode::exchange, 1},
      {R"({"kind": "halo"})", "padded", 4, HaloMode::padded, 1},
      {R"({"kind": "halo"})", "wide", 4, HaloMode::wide, 3},
      {R"({"kind": "halo", "scatter_mode": "local"})", "auto", 4, HaloMode::exchange, 1},
      {R"({"kind": "refresh_halo"})", "auto", 4, HaloMode::exchange, 1},
      {R"({"kind": "local"})", "auto", 1, HaloMode::exchange, 1},
      {R"({"kind": "local"})", "auto", 2, HaloMode::wide, 3},
      {R"({"kind": "local"})", "wide", 1, HaloMode::wide, 3},
  };
  for (const Row &row : rows) {
    INFO(row.policy << " " << row.halo << " " << row.ranks);
    const Realisation chosen = choose_realisation(file_with(row.policy), row.halo, row.ranks);
    CHECK(chosen.mode == row.mode);
    CHECK(chosen.layers_held == row.layers_held);
    CHECK(!chosen.text.empty());
  }
}

TEST_CASE("what is not run is refused, with the place and the cure")
{
  struct Row {
    const char *policy, *more, *layers, *halo, *said;
  };
  const std::vector<Row> rows{
      {R"({"kind": "shard"})", "", "3", "auto", "/core/policy"},
      {R"({"kind": "graph_parallel"})", "", "3", "auto", "graph_parallel"},
      {R"({"kind": "halo", "gather_mode": "local"})", "", "3", "auto", "halo_read"},
      {R"({"kind": "local"})", "", "3", "exchange", "SPEC_MPNN_HALO"},
      {R"({"kind": "local"})", "", "3", "padded", "SPEC_MPNN_HALO"},
      {R"({"kind": "local"})", "", "", "auto", "layers"},
      {R"({"kind": "halo"})", "", "", "wide", "layers"},
      {R"({"kind": "halo"}, "custom_ops": [{"op": "a::b", "arg_transforms": {"0": {"type": "gather_inputs"}}}])",
       "", "3", "auto", "a::b"},
  };
  for (const Row &row : rows) {
    INFO(row.policy << " " << row.more << " " << row.halo);
    CHECK_THROWS_WITH(choose_realisation(file_with(row.policy, row.more, row.layers), row.halo, 2),
                      contains(row.said) && contains("test.json"));
  }
}
