#include "spec/potentials.h"

#include <array>

namespace mlip_dd {

namespace {

constexpr std::array<PotentialInfo, 6> kPotentials{{
    {"torchscript", "a TorchScript model file", true, true},
    {"aoti", "a model compiled by AOTInductor", true, true},
    {"lj", "Lennard-Jones 12-6", false, true},
    // From the accuracy asked for follow both the splitting parameter and the real-space cutoff.
    {"ewald", "Ewald sum", false, false},
    {"pme", "particle-mesh Ewald", false, true},
    {"dftd3", "DFT-D3 dispersion", false, true, "reference"},
}};

constexpr auto kNames = [] {
  std::array<std::string_view, kPotentials.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kPotentials[i].name;
  return names;
}();

}    // namespace

std::span<const PotentialInfo> known_potentials() { return kPotentials; }
std::span<const std::string_view> potential_names() { return kNames; }

const PotentialInfo *find_potential(std::string_view name)
{
  for (const PotentialInfo &potential : kPotentials)
    if (potential.name == name) return &potential;
  return nullptr;
}

}    // namespace mlip_dd
