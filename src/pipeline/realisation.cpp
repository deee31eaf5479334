#include "pipeline/realisation.h"

#include <algorithm>

#include "base/error.h"
#include "spec/families.h"
#include "spec/potentials.h"
#include "spec/spec_file.h"

namespace mlip_dd {

namespace {

constexpr const char *kUseHalo = "Use a halo policy, for example \"spec\": \"SPEC_MPNN_HALO\"";

bool is_native(const SpecFile &file) { return !find_potential(file.model->potential)->has_file; }

// Native potentials give forces and virials of their own, the exact derivatives of their energies,
// so that any way of taking them is theirs.
void check_forces(const SpecFile &file)
{
  if (!file.spec.compile || is_native(file)) return;
  const bool inside = file.spec.compile->force_strategy == ForceStrategy::ModelInternal;
  const bool given = file.model->outputs.contains("forces");
  const std::string where = file.path + ", /compile/force_strategy";
  if (inside && !given)
    throw Error({"the model is to make its own forces, and it gives none", "\"model_internal\"",
                 where,
                 "Name its \"forces\" and \"virial\" in /model/outputs, or set "
                 "\"framework_from_node_energy\""});
  if (!inside && given)
    throw Error({"forces are to be taken from the energies, and the model makes its own",
                 "output \"forces\"", where,
                 "Set \"model_internal\", or use an export of the model without forces"});
}

// The first operator with this transform, or nullptr.
const OpAdapter *adapter_with(const SpecFile &file, ArgTransform transform)
{
  for (const OpAdapter &adapter : file.spec.distribution.custom_ops)
    for (const auto &[position, found] : adapter.arg_transforms)
      if (found == transform) return &adapter;
  return nullptr;
}

const OpAdapter *adapter_with(const SpecFile &file, OutputTransformKind kind)
{
  for (const OpAdapter &adapter : file.spec.distribution.custom_ops)
    for (const auto &[position, found] : adapter.output_transforms)
      if (found.kind == kind) return &adapter;
  return nullptr;
}

[[noreturn]] void refuse_for(const SpecFile &file, const OpAdapter &adapter,
                             const std::string &cause, const std::string &cure)
{
  throw Error({cause, "\"" + adapter.op + "\"", file.path + ", /core/custom_ops", cure});
}

// What the adapters ask of rows, against what the realisation has.
void check_adapters(const SpecFile &file, const Realisation &chosen)
{
  if (const OpAdapter *adapter = adapter_with(file, ArgTransform::GatherInputsFull);
      adapter && !chosen.every_atom)
    refuse_for(file, *adapter, "gather_inputs_full needs every atom of the system on each rank",
               "Use `halo all` with a halo policy, for example \"spec\": \"SPEC_MPNN_HALO\"");
  if (const OpAdapter *adapter = adapter_with(file, OutputTransformKind::ScatterOutputs);
      adapter && chosen.mode == HaloMode::wide)
    refuse_for(file, *adapter,
               "scatter_outputs adds what ranks hold for each other, and with a wide halo each "
               "holds all of its own",
               "Use `halo exchange` with a halo policy");
}

// A model that makes its own forces differentiates the energies of all rows it holds. Those of halo
// rows depend on types alone, unless something brings values of other atoms there.
void check_halo_energies(const SpecFile &file, const Realisation &chosen)
{
  const ModelSpec &model = *file.model;
  const bool inside =
      std::any_of(model.autograd_outputs.begin(), model.autograd_outputs.end(),
                  [&](const auto &output) { return model.outputs.contains(output); });
  if (chosen.mode == HaloMode::exchange || !inside || model.inputs.contains("owned_mask")) return;
  const bool sums = file.spec.system_reductions && model.inputs.contains("batch") &&
                    find_family(model.family)->sums_over_systems;
  if (sums || adapter_with(file, OutputTransformKind::AllReduceSum) ||
      adapter_with(file, OutputTransformKind::ScatterOutputs))
    throw Error(
        {"the model differentiates inside, and would count energies of halo rows, which "
         "depend on sums over other atoms",
         chosen.text, file.path + ", /model", "Use `halo exchange` with a halo policy"});
}

Realisation exchange(const std::string &why = "")
{
  return {HaloMode::exchange, 1,
          "exchange per layer" + why + ", node tensors hold owned rows only"};
}

Realisation padded()
{
  return {HaloMode::padded, 1, "exchange per layer, node tensors hold owned and halo rows"};
}

Realisation all(const std::string &why)
{
  return {HaloMode::exchange, 1,
          "every other atom gathered per layer" + why + ", node tensors hold owned rows only",
          true};
}

Realisation wide(const SpecFile &file, const std::string &why)
{
  if (!file.model->layers)
    throw Error({"a wide halo needs the model's number of message-passing layers", "none",
                 file.path + ", /model",
                 "Add \"layers\", or use `halo exchange` with a halo policy"});
  // A model without layers still reads the senders of its edges.
  const int layers = std::max(1, *file.model->layers);
  return {HaloMode::wide, layers, "wide, " + why + ": nothing is exchanged inside the model"};
}

Realisation as_asked(const SpecFile &file, const std::string &halo)
{
  if (halo == "wide") return wide(file, "as asked for");
  if (halo == "padded") return padded();
  if (halo == "all") return all(", as asked for");
  return exchange();
}

// A policy under which no rows travel while the model runs.
Realisation without_exchange(const SpecFile &file, const std::string &halo, int ranks,
                             const std::string &found)
{
  if (halo == "wide") return wide(file, "as asked for");
  if (ranks == 1) return {HaloMode::exchange, 1, "one rank, no halo"};
  if (halo != "auto")
    throw Error({"`halo " + halo + "` contradicts the spec's policy, which exchanges nothing",
                 found, file.path + ", /core/policy", kUseHalo});
  return wide(file, "since the policy exchanges nothing");
}

// A policy that stores owned rows alone: others are there while they are read.
Realisation owned_alone(const SpecFile &file, const std::string &halo, int ranks)
{
  if ((halo == "padded" || halo == "wide") && ranks > 1)
    throw Error({"`halo " + halo + "` contradicts the spec's policy, which stores owned rows alone",
                 "kind \"shard\"", file.path + ", /core/policy", kUseHalo});
  return as_asked(file, halo);
}

Realisation of_policy(const SpecFile &file, const std::string &halo, int ranks)
{
  const StoragePolicy &policy = file.spec.distribution.policy;
  const bool full = adapter_with(file, ArgTransform::GatherInputsFull) != nullptr;
  switch (policy.kind) {
    case PolicyKind::Halo:
    case PolicyKind::RefreshHalo:
      // Halo rows that are right after each scatter need not be read anew, and the other way round.
      if (policy.gather_mode == GatherMode::Local && policy.scatter_mode == ScatterMode::Local)
        return without_exchange(file, halo, ranks, "scatter_mode and gather_mode \"local\"");
      break;
    case PolicyKind::Local:
      return without_exchange(file, halo, ranks, "kind \"local\"");
    case PolicyKind::Shard:
      if (halo != "auto" || !full) return owned_alone(file, halo, ranks);
      break;
    case PolicyKind::GraphParallel:
      if (halo != "auto") return as_asked(file, halo);
      if (!file.spec.gp_replicate_geometry) return all("");
      return {HaloMode::padded, 1,
              "every other atom gathered per layer, node tensors hold the rows of all atoms", true};
  }
  if (halo == "auto" && full) return all(", for gather_inputs_full");
  return as_asked(file, halo);
}

}    // namespace

Realisation choose_realisation(const SpecFile &file, const std::string &halo, int ranks)
{
  check_forces(file);
  if (is_native(file)) {
    // They read what they need of the atoms in reach, whatever the policy stores.
    if (halo == "wide") return wide(file, "as asked for");
    return exchange();
  }
  Realisation chosen = of_policy(file, halo, ranks);
  if (ranks > 1) {
    check_adapters(file, chosen);
    check_halo_energies(file, chosen);
  }
  return chosen;
}

}    // namespace mlip_dd
