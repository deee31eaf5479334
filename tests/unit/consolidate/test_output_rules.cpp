// If these fail, an output of a model loses what other ranks hold of it, counts it twice, or is
// taken for something else than its spec declares.
#include <string>
#include <vector>

#include "base/error.h"
#include "catch.h"
#include "consolidate/output_rules.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr OutputKind kKinds[]{OutputKind::PerNode, OutputKind::PerGraph, OutputKind::Global,
                              OutputKind::Unknown};
constexpr Reduce kReductions[]{Reduce::None, Reduce::OwnedOnly, Reduce::AllReduce};

ModelSpec model_with(const std::vector<std::string> &outputs, const std::string &family = "generic")
{
  ModelSpec model;
  model.family = family;
  for (const std::string &output : outputs) model.outputs[output] = output + "_of_model";
  return model;
}

const std::string kNever = "an error";

std::string word(Consolidation how)
{
  switch (how) {
    case Consolidation::own_rows:
      return "own rows";
    case Consolidation::send_home:
      return "send home";
    case Consolidation::same:
      return "same";
    case Consolidation::sum:
      return "sum";
    case Consolidation::untouched:
      return "untouched";
  }
  return {};
}

std::string found(const OutputRule &rule, bool per_atom)
{
  try {
    return word(consolidation_of(rule, per_atom, "x"));
  } catch (const Error &) {
    return kNever;
  }
}

}    // namespace

TEST_CASE("every kind, reduction and way of being made has its consolidation")
{
  struct Row {
    OutputKind kind;
    bool per_atom, derivative;
    std::string none, owned_only, all_reduce;
  };
  using enum OutputKind;
  const std::vector<Row> rows{
      {PerNode, true, true, "send home", "own rows", kNever},
      {PerNode, true, false, "own rows", "own rows", kNever},
      {PerGraph, false, true, "same", "same", "sum"},
      {PerGraph, false, false, "same", "same", "sum"},
      {Global, true, true, "untouched", "untouched", "untouched"},
      {Global, false, false, "untouched", "untouched", "untouched"},
      {Unknown, true, true, "send home", "own rows", kNever},
      {Unknown, true, false, "own rows", "own rows", kNever},
      {Unknown, false, true, "same", "same", "sum"},
      {Unknown, false, false, "same", "same", "sum"},
  };
  for (const Row &row : rows) {
    const std::string expected[]{row.none, row.owned_only, row.all_reduce};
    for (std::size_t k = 0; k < 3; ++k) {
      INFO("kind " << static_cast<int>(row.kind) << ", reduction " << k << ", per atom "
                   << row.per_atom << ", derivative " << row.derivative);
      CHECK(found({row.kind, kReductions[k], row.derivative}, row.per_atom) == expected[k]);
    }
  }
}

TEST_CASE("rows decide where the kind is not declared, and only there")
{
  for (const OutputKind kind : kKinds)
    for (const bool match : {true, false}) {
      INFO("kind " << static_cast<int>(kind) << " match " << match);
      const bool per_atom = is_per_atom({kind, Reduce::None, false}, match ? 7 : 1, 7);
      CHECK(per_atom == (kind == OutputKind::PerNode || (kind == OutputKind::Unknown && match)));
    }
}

TEST_CASE("rules are found under the model's names and under those of specs")
{
  MLIPSpec spec;
  spec.output_kinds = {{"stress", OutputKind::PerGraph},
                       {"atomic_energies", OutputKind::PerNode},
                       {"moment", OutputKind::PerGraph},
                       {"charges", OutputKind::Global}};
  spec.all_reduce_outputs = {"stress"};
  spec.owned_only_outputs = {"forces"};
  ModelSpec model = model_with({"node_energy", "virial", "forces", "moment", "other"});
  model.autograd_outputs = {"virial", "other"};
  const auto rule = [&](const char *output) { return output_rule(spec, model, output); };
  CHECK(rule("virial") == OutputRule{OutputKind::PerGraph, Reduce::AllReduce, true});
  CHECK(rule("node_energy") == OutputRule{OutputKind::PerNode, Reduce::None, false});
  CHECK(rule("forces") == OutputRule{OutputKind::Unknown, Reduce::OwnedOnly, false});
  CHECK(rule("moment") == OutputRule{OutputKind::PerGraph, Reduce::None, false});
  CHECK(rule("other") == OutputRule{OutputKind::Unknown, Reduce::None, true});
  // The model's own name goes before.
  spec.output_kinds["virial"] = OutputKind::Global;
  CHECK(rule("virial").kind == OutputKind::Global);
  // What the table of families says is per atom is so, unless the spec says otherwise.
  const ModelSpec aimnet2 = model_with({"charges", "spin_charges"}, "aimnet2");
  CHECK(output_rule(spec, aimnet2, "spin_charges").kind == OutputKind::PerNode);
  CHECK(output_rule(spec, aimnet2, "charges").kind == OutputKind::Global);
}

TEST_CASE(
    "the keys for energies and virials of atoms put their outputs in place, or say that there are "
    "none")
{
  MLIPSpec spec;
  spec.node_energy_key = "e_i";
  spec.node_virial_key = "atomic_virial";
  const ModelSpec placed =
      with_output_keys(spec, model_with({"e_i", "node_energy", "node_virial", "forces"}));
  CHECK(placed.outputs.at("node_energy") == "e_i_of_model");
  CHECK(placed.outputs.at("node_virial") == "node_virial_of_model");
  CHECK(!placed.outputs.contains("e_i"));
  CHECK_THROWS_WITH(with_output_keys(spec, model_with({"node_energy"})),
                    contains("\"e_i\"") && contains("/node_energy_key"));
  CHECK_THROWS_WITH(with_output_keys(spec, model_with({"e_i"})), contains("/node_virial_key"));
  CHECK_THROWS_WITH(require_native_output_keys(spec, "a.json"),
                    contains("a.json, /node_energy_key"));
  spec.node_energy_key = "atomic_energies";
  CHECK_NOTHROW(require_native_output_keys(spec, "a.json"));
}
