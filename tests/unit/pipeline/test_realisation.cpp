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
                   const std::string &layers = "3", const std::string &family = "sevennet")
{
  return read_spec_text(R"({"version": 2, "core": {"policy": )" + policy + R"(}, )" + more +
                            R"("model": {"potential": "torchscript", "family": ")" + family +
                            R"(", "file": "m.pt", "cutoff": 5.0, )" +
                            (layers.empty() ? "" : "\"layers\": " + layers + ", ") +
                            R"("elements": ["H"]}})",
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
    bool every_atom = false;
    const char *more = "";
  };
  const char *const full =
      R"({"kind": "halo"}, "custom_ops": [{"op": "a::b", "arg_transforms": {"0": {"type": "gather_inputs_full"}}}])";
  const char *const both_local =
      R"({"kind": "halo", "scatter_mode": "local", "gather_mode": "local"})";
  const std::vector<Row> rows{
      {R"({"kind": "halo"})", "auto", 4, HaloMode::exchange, 1},
      {R"({"kind": "halo"})", "exchange", 4, HaloMode::exchange, 1},
      {R"({"kind": "halo"})", "padded", 4, HaloMode::padded, 1},
      {R"({"kind": "halo"})", "wide", 4, HaloMode::wide, 3},
      {R"({"kind": "halo", "scatter_mode": "local"})", "auto", 4, HaloMode::exchange, 1},
      {R"({"kind": "halo"})", "all", 4, HaloMode::exchange, 1, true},
      // Kept right by the scatters, instead of read anew.
      {R"({"kind": "halo", "gather_mode": "local"})", "auto", 4, HaloMode::exchange, 1},
      {both_local, "auto", 4, HaloMode::wide, 3},
      {both_local, "auto", 1, HaloMode::exchange, 1},
      {R"({"kind": "refresh_halo"})", "auto", 4, HaloMode::exchange, 1},
      {R"({"kind": "refresh_halo"})", "padded", 4, HaloMode::padded, 1},
      {R"({"kind": "refresh_halo", "gather_mode": "local"})", "auto", 4, HaloMode::wide, 3},
      {R"({"kind": "shard"})", "auto", 4, HaloMode::exchange, 1},
      {R"({"kind": "shard"})", "all", 4, HaloMode::exchange, 1, true},
      {R"({"kind": "graph_parallel"})", "auto", 4, HaloMode::exchange, 1, true},
      {R"({"kind": "graph_parallel"})", "exchange", 4, HaloMode::exchange, 1},
      {R"({"kind": "graph_parallel"})", "wide", 4, HaloMode::wide, 3},
      {R"({"kind": "graph_parallel"})", "auto", 4, HaloMode::padded, 1, true,
       R"("gp_replicate_geometry": true, )"},
      {full, "auto", 4, HaloMode::exchange, 1, true},
      {full, "exchange", 1, HaloMode::exchange, 1},
      {R"({"kind": "local"})", "auto", 1, HaloMode::exchange, 1},
      {R"({"kind": "local"})", "auto", 2, HaloMode::wide, 3},
      {R"({"kind": "local"})", "wide", 1, HaloMode::wide, 3},
  };
  for (const Row &row : rows) {
    INFO(row.policy << " " << row.halo << " " << row.ranks);
    const Realisation chosen =
        choose_realisation(file_with(row.policy, row.more), row.halo, row.ranks);
    CHECK(chosen.every_atom == row.every_atom);
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
      {R"({"kind": "shard"})", "", "3", "padded", "/core/policy"},
      {R"({"kind": "shard"})", "", "3", "wide", "owned rows alone"},
      {R"({"kind": "halo", "scatter_mode": "local", "gather_mode": "local"})", "", "3", "exchange",
       "gather_mode"},
      {R"({"kind": "refresh_halo", "gather_mode": "local"})", "", "3", "all", "gather_mode"},
      {R"({"kind": "local"})", "", "3", "exchange", "SPEC_MPNN_HALO"},
      {R"({"kind": "local"})", "", "3", "padded", "SPEC_MPNN_HALO"},
      {R"({"kind": "local"})", "", "", "auto", "layers"},
      {R"({"kind": "halo"})", "", "", "wide", "layers"},
      {R"({"kind": "halo"})", R"("compile": {"force_strategy": "model_internal"}, )", "3", "auto",
       "framework_from_node_energy"},
      {R"({"kind": "halo"}, "custom_ops": [{"op": "a::b", "arg_transforms": {"0": {"type": "gather_inputs_full"}}}])",
       "", "3", "exchange", "halo all"},
      {R"({"kind": "halo"}, "custom_ops": [{"op": "a::b", "output_transforms": {"0": {"type": "scatter_outputs"}}}])",
       "", "3", "wide", "halo exchange"},
  };
  for (const Row &row : rows) {
    INFO(row.policy << " " << row.more << " " << row.halo);
    CHECK_THROWS_WITH(choose_realisation(file_with(row.policy, row.more, row.layers), row.halo, 2),
                      contains(row.said) && contains("test.json"));
  }
}

TEST_CASE("who takes the forces is the one that the spec names, or is refused")
{
  const auto chosen = [](const std::string &family, const std::string &strategy) {
    return choose_realisation(
        file_with(R"({"kind": "halo"})",
                  R"("compile": {"force_strategy": ")" + strategy + R"("}, )", "3", family),
        "auto", 4);
  };
  for (const char *family : {"nequip_forces", "mace_lammps"}) {
    INFO(family);
    CHECK(chosen(family, "model_internal").mode == HaloMode::exchange);
    for (const char *strategy : {"framework_from_node_energy", "framework_from_global_energy"})
      CHECK_THROWS_WITH(chosen(family, strategy), contains("makes its own"));
  }
  for (const char *strategy : {"framework_from_node_energy", "framework_from_global_energy"})
    CHECK(chosen("mace", strategy).mode == HaloMode::exchange);
  CHECK_THROWS_WITH(chosen("mace", "model_internal"), contains("/compile/force_strategy"));
}

TEST_CASE("a model that makes its own forces is not given halo rows with energies to count")
{
  SpecFile file = file_with(R"({"kind": "halo"})", "", "1", "nequip_forces");
  CHECK(choose_realisation(file, "padded", 4).mode == HaloMode::padded);
  file.spec.distribution.custom_ops = {{"a::b", {}, {{0, {OutputTransformKind::AllReduceSum}}}}};
  for (const char *halo : {"padded", "wide"})
    CHECK_THROWS_WITH(choose_realisation(file, halo, 4), contains("halo exchange"));
  CHECK(choose_realisation(file, "exchange", 4).mode == HaloMode::exchange);
  CHECK(choose_realisation(file, "padded", 1).mode == HaloMode::padded);
  // One that is told which rows count may hold them.
  file.model->inputs["owned_mask"] = "mask";
  CHECK(choose_realisation(file, "padded", 4).mode == HaloMode::padded);
}

TEST_CASE("native potentials read what is in reach, whatever the policy and its adapters")
{
  for (
      const char *policy :
      {R"({"kind": "graph_parallel"})", R"({"kind": "local"})", R"({"kind": "shard"})",
       R"({"kind": "halo"}, "custom_ops": [{"op": "a::b", "arg_transforms": {"0": {"type": "gather_inputs_full"}}}])"}) {
    INFO(policy);
    const SpecFile file =
        read_spec_text(R"({"version": 2, "core": {"policy": )" + std::string(policy) +
                           R"(}, "compile": {"force_strategy": "model_internal"},
              "model": {"potential": "lj", "cutoff": 5.0, "elements": ["Ar"],
                        "parameters": {"epsilon": 0.01, "sigma": 3.4}}})",
                       "test.json");
    const Realisation chosen = choose_realisation(file, "auto", 4);
    CHECK(chosen.mode == HaloMode::exchange);
    CHECK(!chosen.every_atom);
  }
}
