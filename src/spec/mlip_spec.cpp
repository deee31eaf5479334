#include "spec/mlip_spec.h"

#include <tuple>

namespace mlip_dd {

StoragePolicy halo_policy(ScatterMode scatter, GatherMode gather)
{
  return {PolicyKind::Halo, scatter, gather};
}

StoragePolicy refresh_halo_policy(ScatterMode scatter, GatherMode gather)
{
  return {PolicyKind::RefreshHalo, scatter, gather};
}

StoragePolicy graph_parallel_policy() { return {PolicyKind::GraphParallel, {}, {}}; }
StoragePolicy shard_policy() { return {PolicyKind::Shard, {}, {}}; }
StoragePolicy local_policy() { return {PolicyKind::Local, {}, {}}; }

bool has_halo_modes(PolicyKind kind)
{
  return kind == PolicyKind::Halo || kind == PolicyKind::RefreshHalo;
}

std::vector<std::string> default_shard_fields()
{
  return {"positions", "charges", "atomic_numbers"};
}

bool DistributionSpec::operator==(const DistributionSpec &other) const
{
  return std::tie(policy, custom_ops, third_party_helpers) ==
         std::tie(other.policy, other.custom_ops, other.third_party_helpers);
}

bool MLIPSpec::operator==(const MLIPSpec &other) const
{
  const auto compared = [](const MLIPSpec &spec) {
    return std::tie(spec.distribution, spec.system_reductions, spec.node_energy_key,
                    spec.node_virial_key, spec.gp_replicate_geometry, spec.owned_only_outputs,
                    spec.all_reduce_outputs, spec.output_kinds);
  };
  return compared(*this) == compared(other);
}

bool identical(const MLIPSpec &a, const MLIPSpec &b)
{
  return a == b && a.compile == b.compile &&
         a.distribution.shard_fields == b.distribution.shard_fields;
}

OutputKind output_kind(const MLIPSpec &spec, const std::string &output)
{
  const auto found = spec.output_kinds.find(output);
  return found == spec.output_kinds.end() ? OutputKind::Unknown : found->second;
}

Reduce output_reduce(const MLIPSpec &spec, const std::string &output)
{
  if (spec.all_reduce_outputs.contains(output)) return Reduce::AllReduce;
  if (spec.owned_only_outputs.contains(output)) return Reduce::OwnedOnly;
  return Reduce::None;
}

}    // namespace mlip_dd
