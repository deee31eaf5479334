#include "spec/presets.h"

#include <array>

namespace mlip_dd {

namespace {

constexpr std::string_view kGraphParallelName = "SPEC_MPNN_GP";

constexpr std::array<Preset, 7> kPresets{{
    {"SPEC_MPNN_HALO", "message-passing models: halo rows exchanged at every layer"},
    {kGraphParallelName, "message-passing models in small boxes: all rows gathered at every layer"},
    {"SPEC_UMA_HALO", "models of the UMA family"},
    {"SPEC_LJ_HALO", "Lennard-Jones and other pair potentials"},
    {"SPEC_EWALD_HALO", "Ewald sums"},
    {"SPEC_PME_HALO", "particle-mesh Ewald"},
    {"SPEC_DFTD3_HALO", "DFT-D3 dispersion"},
}};

constexpr auto kPresetNames = [] {
  std::array<std::string_view, kPresets.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kPresets[i].name;
  return names;
}();

MLIPSpec halo_preset()
{
  MLIPSpec spec;
  spec.distribution.policy = halo_policy();
  spec.output_kinds = {{"energy", OutputKind::PerGraph},
                       {"forces", OutputKind::PerNode},
                       {"stress", OutputKind::PerGraph},
                       {"atomic_energies", OutputKind::PerNode}};
  return spec;
}

// Every rank's rows are complete when the all-gathered model has run, so that per-atom outputs are
// kept as they are.
MLIPSpec graph_parallel_preset()
{
  MLIPSpec spec = halo_preset();
  spec.distribution.policy = graph_parallel_policy();
  spec.distribution.shard_fields.clear();
  spec.owned_only_outputs = {"forces", "atomic_energies"};
  spec.compile = CompilePolicy{true, ForceStrategy::FrameworkFromGlobalEnergy, false};
  return spec;
}

}    // namespace

std::span<const Preset> presets() { return kPresets; }
std::span<const std::string_view> preset_names() { return kPresetNames; }

std::optional<MLIPSpec> find_preset(std::string_view name)
{
  for (const Preset &preset : kPresets)
    if (preset.name == name)
      return name == kGraphParallelName ? graph_parallel_preset() : halo_preset();
  return std::nullopt;
}

}    // namespace mlip_dd
