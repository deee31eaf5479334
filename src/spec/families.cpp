#include "spec/families.h"

#include <array>

namespace mlip_dd {

namespace {

constexpr std::array<FamilyField, 5> kSevenNetInputs{{
    {"types", "x"},
    {"edge_index", "edge_index"},
    {"edge_vectors", "edge_vec"},
    {"num_atoms", "num_atoms"},
    {"n_owned", "nlocal"},
}};
constexpr std::array<FamilyField, 1> kSevenNetOutputs{{{"node_energy", "atomic_energy"}}};

constexpr std::array<Family, 2> kFamilies{{
    // A scripted module whose names the spec file maps.
    {"generic", 0, {}, {}, "", "", false, true},
    // Park et al., J. Chem. Theory Comput. 20, 4857 (2024); the serial TorchScript deployment.
    {"sevennet", 0, kSevenNetInputs, kSevenNetOutputs, "chemical_symbols_to_index", "cutoff", true, false},
}};

constexpr std::array<std::string_view, 7> kInputRoles{
    "types", "atomic_numbers", "edge_index", "edge_vectors", "n_owned", "num_atoms", "batch"};
constexpr std::array<std::string_view, 1> kOutputRoles{"node_energy"};

}    // namespace

std::span<const Family> families() { return kFamilies; }

const Family *find_family(std::string_view name)
{
  for (const Family &family : kFamilies)
    if (family.name == name) return &family;
  return nullptr;
}

std::span<const std::string_view> input_roles() { return kInputRoles; }
std::span<const std::string_view> output_roles() { return kOutputRoles; }

}    // namespace mlip_dd
