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

// Roles of inputs (n = owned rows, E = edges; dtype "real" is the model's own floating type):
//   types          int64 [n]     index into `elements`
//   atomic_numbers int64 [n]
//   edge_index     int64 [2, E]  rows in the order `receiver_row` says
//   edge_vectors   real  [E, 3]  r_ij = x_sender + shift - x_receiver
//   n_owned        int64 [1]     number of owned rows, on the CPU (models use it to slice)
//   num_atoms      int64 [1]     the same number, on the model's device
//   batch          int64 [n]     zeros: one system; rows added by it are summed over all ranks
//   total_charge   real  [1]     e, the parameter total_charge or 0
//   total_spin     real  [1]     S, half the number of unpaired electrons: the parameter total_spin or 0
// Roles of outputs:
//   node_energy    real [n] or [n, 1]  energy of each owned row; summed over owned rows it is E.
//                                      A model without it only makes fields for others
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
  // exchange where a model only sums what it returns as a total, which we do not use.
  bool sums_over_systems;
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
