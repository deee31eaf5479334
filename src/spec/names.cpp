#include "spec/names.h"

#include <array>

namespace mlip_dd {

namespace {

template <class Enum, std::size_t n>
using Table = std::array<std::pair<std::string_view, Enum>, n>;

constexpr Table<ScatterMode, 2> kScatterModes{{
    {"halo_correction", ScatterMode::HaloCorrection},
    {"local", ScatterMode::Local},
}};
constexpr Table<GatherMode, 2> kGatherModes{{
    {"halo_read", GatherMode::HaloRead},
    {"local", GatherMode::Local},
}};
constexpr Table<PolicyKind, 5> kPolicyKinds{{
    {"local", PolicyKind::Local},
    {"shard", PolicyKind::Shard},
    {"graph_parallel", PolicyKind::GraphParallel},
    {"halo", PolicyKind::Halo},
    {"refresh_halo", PolicyKind::RefreshHalo},
}};
constexpr Table<ArgTransform, 3> kArgTransforms{{
    {"gather_inputs", ArgTransform::GatherInputs},
    {"gather_inputs_full", ArgTransform::GatherInputsFull},
    {"slice_owned", ArgTransform::SliceOwned},
}};
constexpr Table<OutputTransformKind, 3> kOutputTransforms{{
    {"scatter_outputs", OutputTransformKind::ScatterOutputs},
    {"all_reduce_sum", OutputTransformKind::AllReduceSum},
    {"slice_outputs_owned", OutputTransformKind::SliceOutputsOwned},
}};
constexpr Table<OutputKind, 4> kOutputKinds{{
    {"per_node", OutputKind::PerNode},
    {"per_graph", OutputKind::PerGraph},
    {"global", OutputKind::Global},
    {"unknown", OutputKind::Unknown},
}};
constexpr Table<Reduce, 3> kReduces{{
    {"none", Reduce::None},
    {"owned_only", Reduce::OwnedOnly},
    {"all_reduce", Reduce::AllReduce},
}};
constexpr Table<ForceStrategy, 3> kForceStrategies{{
    {"model_internal", ForceStrategy::ModelInternal},
    {"framework_from_node_energy", ForceStrategy::FrameworkFromNodeEnergy},
    {"framework_from_global_energy", ForceStrategy::FrameworkFromGlobalEnergy},
}};
constexpr Table<Neutralize, 3> kNeutralize{{
    {"none", Neutralize::None},
    {"shift", Neutralize::Shift},
    {"error", Neutralize::Error},
}};

}    // namespace

template <>
NameTable<ScatterMode> names_of<ScatterMode>()
{
  return kScatterModes;
}
template <>
NameTable<GatherMode> names_of<GatherMode>()
{
  return kGatherModes;
}
template <>
NameTable<PolicyKind> names_of<PolicyKind>()
{
  return kPolicyKinds;
}
template <>
NameTable<ArgTransform> names_of<ArgTransform>()
{
  return kArgTransforms;
}
template <>
NameTable<OutputTransformKind> names_of<OutputTransformKind>()
{
  return kOutputTransforms;
}
template <>
NameTable<OutputKind> names_of<OutputKind>()
{
  return kOutputKinds;
}
template <>
NameTable<Reduce> names_of<Reduce>()
{
  return kReduces;
}
template <>
NameTable<ForceStrategy> names_of<ForceStrategy>()
{
  return kForceStrategies;
}
template <>
NameTable<Neutralize> names_of<Neutralize>()
{
  return kNeutralize;
}

std::string list_names(std::span<const std::string_view> names)
{
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}    // namespace mlip_dd
