// What is known of each model family, as data: names of inputs and outputs, edge order, extra
// files. Code never asks "is this SevenNet?"; it asks the row.
#pragma once

#include <span>
#include <string_view>

namespace mlip_dd {

// One argument or result: our name (the role), and the model's.
struct FamilyField {
  std::string_view role;
  std::string_view name;
};

// Roles of inputs (n = rows of the model's node tensors, owned ones first; E = edges; dtype "real"
// is the model's own floating type; lengths in Angstrom):
//   types            int64 [n]     index into `elements`
//   atomic_numbers   int64 [n]
//   node_attributes  real  [n, elements]  ones at the types, zeros elsewhere
//   edge_index       int64 [2, E]  rows in the order `receiver_row` says
//   edge_vectors     real  [E, 3]  r_ij = x_sender + shift - x_receiver
//   positions        real  [n, 3]  one for all images of an atom: the image that its owner holds
//   edge_shifts      real  [E, 3]  of edge_vectors
//   edge_unit_shifts real  [E, 3]  the same in lattice vectors: whole numbers
//   cell             real  [3, 3]  lattice vectors in rows
//   n_owned          int64 [1]     n, on the CPU (models use it to slice)
//   num_atoms        int64 [1]     n, on the model's device
//   batch            int64 [n]     zeros: one system; rows added by it are summed over all ranks
//   batch_bounds     int64 [2]     0 and n
//   owned_mask       bool  [n]     true for rows whose energies count
//   virial_wanted    bool          true
//   total_charge     real  [1]     e, the parameter total_charge or 0
//   total_spin       real  [1]     S, half the number of unpaired electrons: the parameter
//                                  total_spin or 0
// Roles of outputs:
//   node_energy    real [n] or [n, 1]  energy of each owned row; summed over owned rows it is E.
//                                      A model with neither it nor energy only makes fields
//                                      for others
//   energy         real, one number    the system's energy
//   forces         real [n, 3]         -dE/dx made by the model itself
//   virial         real [.., 3, 3]     sum x_a F_b made by the model itself
//   stress         real [.., 3, 3]     the same as a tensile-positive stress: -virial / volume
//   node_virial    real [n, 3, 3]      each row's share of the virial
// Which of them are used, docs/spec.md says under `compile`.
struct Family {
  std::string_view name;
  int receiver_row;    // row of edge_index that holds receivers, 0 or 1
  std::span<const FamilyField> inputs;
  std::span<const FamilyField> outputs;
  std::string_view elements_extra_file;    // holds element symbols by type index; may be empty
  std::string_view cutoff_extra_file;      // holds the cutoff in Angstrom; may be empty
  // Node features that carry no gradient depend on types alone, so that their halo rows are fetched
  // once per reneighbouring. False where a model may detach features that depend on positions.
  bool constant_features_depend_on_types_only;
  // Whether sums over the system, by `batch`, reach what we read of the model. False spares their
  // exchange where a model only sums what it returns as a total, which we use only if `outputs`
  // maps it to `energy`.
  bool sums_over_systems;
  // Edge vectors and shifts have the other sign: x_receiver - (x_sender + shift).
  bool vectors_end_at_receiver = false;
  // The model reduces over all its rows without a `batch`, and what comes of it is multiplied by
  // zero.
  bool reduces_to_nothing = false;
};

// All rows, in alphabetical order of names.
std::span<const Family> families();

// nullptr when there is no such family.
const Family *find_family(std::string_view name);

// The per-atom field of charges, in e: an input or an output of models, and what LAMMPS calls q.
inline constexpr std::string_view kChargesField = "charges";

// Every role name. Other keys of `inputs` and `outputs` are names of per-atom fields: real [n] or
// [n, width], wired between models of a pipeline or carried by the atoms.
std::span<const std::string_view> input_roles();
std::span<const std::string_view> output_roles();

}    // namespace mlip_dd
