#include "pipeline/realisation.h"

#include <algorithm>

#include "base/error.h"
#include "spec/spec_file.h"

namespace mlip_dd {

namespace {

constexpr const char *kUseHalo = "Use a halo policy, for example \"spec\": \"SPEC_MPNN_HALO\"";

void refuse_what_is_not_run(const SpecFile &file)
{
  const MLIPSpec &spec = file.spec;
  if (!spec.distribution.custom_ops.empty())
    throw Error({"operator adapters are not run by this version",
                 spec.distribution.custom_ops.front().op, file.path + ", /core/custom_ops",
                 "Remove them, or use a model whose gathers are plain"});
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

}    // namespace

Realisation choose_realisation(const SpecFile &file, const std::string &halo, int ranks)
{
  refuse_what_is_not_run(file);
  const StoragePolicy &policy = file.spec.distribution.policy;
  const std::string where = file.path + ", /core/policy";
  switch (policy.kind) {
    case PolicyKind::Halo:
    case PolicyKind::RefreshHalo:
      if (halo == "wide") return wide(file, "as asked for");
      if (policy.gather_mode != GatherMode::HaloRead)
        throw Error(
            {"without reading the halo a model gives other numbers on several ranks than on one",
             "gather_mode \"local\"", where, "Set \"gather_mode\": \"halo_read\""});
      if (halo == "padded")
        return {HaloMode::padded, 1, "exchange per layer, node tensors hold owned and halo rows"};
      return {HaloMode::exchange, 1, "exchange per layer, node tensors hold owned rows only"};
    case PolicyKind::Local:
      if ((halo == "exchange" || halo == "padded") && ranks > 1)
        throw Error({"`halo " + halo + "` contradicts the spec's policy", "kind \"local\"", where,
                     kUseHalo});
      if (ranks > 1 || halo == "wide") return wide(file, "since the policy is local");
      return {HaloMode::exchange, 1, "one rank, no halo"};
    case PolicyKind::Shard:
      throw Error({"a shard policy says how rows are stored, not how a model runs",
                   "kind \"shard\"", where, kUseHalo});
    case PolicyKind::GraphParallel:
      throw Error({"the graph_parallel policy is not run by this version",
                   "kind \"graph_parallel\"", where, kUseHalo});
  }
  throw Error({"unknown storage policy", "", where, kUseHalo});
}

}    // namespace mlip_dd
