#include "spec/families.h"

#include <array>

namespace mlip_dd {

namespace {

// Our exporters' own modules: arguments have the roles' names, results come in order.
constexpr std::array<FamilyField, 6> kChargedInputs{{
    {"atomic_numbers", "atomic_numbers"},
    {"edge_index", "edge_index"},
    {"edge_vectors", "edge_vectors"},
    {"batch", "batch"},
    {"total_charge", "total_charge"},
    {"total_spin", "total_spin"},
}};
constexpr std::array<FamilyField, 3> kAimnet2Outputs{
    {{"node_energy", "0"}, {"charges", "1"}, {"spin_charges", "2"}}};

constexpr std::array<FamilyField, 3> kAniInputs{
    {{"types", "types"}, {"edge_index", "edge_index"}, {"edge_vectors", "edge_vectors"}}};
constexpr std::array<FamilyField, 1> kAniOutputs{{{"node_energy", "0"}}};

constexpr std::array<FamilyField, 3> kChgnetInputs{{
    {"atomic_numbers", "atomic_numbers"},
    {"edge_index", "edge_index"},
    {"edge_vectors", "edge_vectors"},
}};
constexpr std::array<FamilyField, 2> kChgnetOutputs{
    {{"node_energy", "0"}, {"magnetic_moments", "1"}}};

constexpr std::array<FamilyField, 3> kSo3lrOutputs{
    {{"node_energy", "0"}, {"charges", "1"}, {"hirshfeld_ratios", "2"}}};

constexpr std::array<FamilyField, 5> kSevenNetInputs{{
    {"types", "x"},
    {"edge_index", "edge_index"},
    {"edge_vectors", "edge_vec"},
    {"num_atoms", "num_atoms"},
    {"n_owned", "nlocal"},
}};
constexpr std::array<FamilyField, 1> kSevenNetOutputs{{{"node_energy", "atomic_energy"}}};

// Our exporter's module over the package's blocks.
constexpr std::array<FamilyField, 3> kMaceInputs{{{"node_attributes", "node_attributes"},
                                                  {"edge_index", "edge_index"},
                                                  {"edge_vectors", "edge_vectors"}}};
constexpr std::array<FamilyField, 1> kMaceOutputs{{{"node_energy", "node_energy"}}};

// LAMMPS_MACE of package mace-torch: energies of the atoms that the mask names, forces and virial
// made inside.
constexpr std::array<FamilyField, 10> kMaceLammpsInputs{{
    {"positions", "positions"},
    {"node_attributes", "node_attrs"},
    {"edge_index", "edge_index"},
    {"edge_shifts", "shifts"},
    {"edge_unit_shifts", "unit_shifts"},
    {"cell", "cell"},
    {"batch", "batch"},
    {"batch_bounds", "ptr"},
    {"owned_mask", "local_or_ghost"},
    {"virial_wanted", "compute_virials"},
}};
constexpr std::array<FamilyField, 3> kMaceLammpsOutputs{
    {{"node_energy", "node_energy"}, {"forces", "forces"}, {"virial", "virials"}}};

constexpr std::array<FamilyField, 3> kNequipInputs{
    {{"types", "atom_types"}, {"edge_index", "edge_index"}, {"edge_vectors", "edge_vectors"}}};
constexpr std::array<FamilyField, 1> kNequipOutputs{{{"node_energy", "atomic_energy"}}};

constexpr std::array<FamilyField, 5> kNequipForcesInputs{{
    {"positions", "pos"},
    {"types", "atom_types"},
    {"edge_index", "edge_index"},
    {"edge_unit_shifts", "edge_cell_shift"},
    {"cell", "cell"},
}};
constexpr std::array<FamilyField, 3> kNequipForcesOutputs{
    {{"node_energy", "atomic_energy"}, {"forces", "forces"}, {"virial", "virial"}}};

constexpr std::array<Family, 11> kFamilies{{
    // Anstine, Zubatyuk, Isayev, Chem. Sci. 16, 10228 (2025). Charges are balanced by sums over the
    // system.
    {"aimnet2", 0, kChargedInputs, kAimnet2Outputs, "", "", true, true},
    // Musaelian et al., Nat. Commun. 14, 579 (2023): strictly local. As nequip otherwise.
    {"allegro", 0, kNequipInputs, kNequipOutputs, "type_names", "r_max", true, false},
    // Smith, Isayev, Roitberg, Chem. Sci. 8, 3192 (2017): strictly local.
    {"ani", 0, kAniInputs, kAniOutputs, "", "", true, false},
    // Deng et al., Nat. Mach. Intell. 5, 1031 (2023). Bonds are matched with those of their senders
    // by vectors without a gradient.
    {"chgnet", 0, kChgnetInputs, kChgnetOutputs, "", "", false, false},
    // A scripted module whose names the spec file maps.
    {"generic", 0, {}, {}, "", "", false, true},
    // Batatia et al., NeurIPS 35 (2022).
    {"mace", 1, kMaceInputs, kMaceOutputs, "", "", true, false, true},
    {"mace_lammps", 1, kMaceLammpsInputs, kMaceLammpsOutputs, "", "", true, false, true, true},
    // Batzner et al., Nat. Commun. 13, 2453 (2022); a TorchScript model without derivatives.
    {"nequip", 0, kNequipInputs, kNequipOutputs, "type_names", "r_max", true, false},
    // The deployed .nequip.pth of NequIP and Allegro, which makes forces and virial itself.
    {"nequip_forces", 0, kNequipForcesInputs, kNequipForcesOutputs, "type_names", "r_max", true,
     false},
    // Park et al., J. Chem. Theory Comput. 20, 4857 (2024); the serial TorchScript deployment.
    {"sevennet", 0, kSevenNetInputs, kSevenNetOutputs, "chemical_symbols_to_index", "cutoff", true,
     false},
    // Kabylda et al., J. Am. Chem. Soc. 147, 33723 (2025). Charge, spin and charges that are left
    // over are spread by sums over the system.
    {"so3lr", 0, kChargedInputs, kSo3lrOutputs, "", "", true, true},
}};

constexpr std::array<std::string_view, 17> kInputRoles{
    "types",        "atomic_numbers", "node_attributes",  "edge_index", "edge_vectors",
    "positions",    "edge_shifts",    "edge_unit_shifts", "cell",       "n_owned",
    "num_atoms",    "batch",          "batch_bounds",     "owned_mask", "virial_wanted",
    "total_charge", "total_spin"};
constexpr std::array<std::string_view, 6> kOutputRoles{"node_energy", "energy", "forces",
                                                       "virial",      "stress", "node_virial"};

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
