// What LAMMPS can be told to do that this pair style refuses, because the model's numbers would be
// wrong.
#include <atom.h>
#include <error.h>
#include <force.h>
#include <neighbor.h>
#include <update.h>
#include <utils.h>

#include <algorithm>

#include "pair_state.h"
#include "place.h"

namespace LAMMPS_NS {

void PairMlipDD::refuse_unsupported()
{
  if (!atom->tag_enable)
    error->all(MLIP_DD_PLACE, "mlip/dd: atoms must have IDs. Use `atom_modify id yes`");
  // neighbor->exclude is set later, in Neighbor::init(). A group kept from all atoms is out of the
  // model.
  bool some_pairs = neighbor->nex_type || neighbor->nex_mol;
  for (int k = 0; k < neighbor->nex_group; ++k)
    some_pairs |= neighbor->ex1_group[k] != 0 && neighbor->ex2_group[k] != 0;
  if (some_pairs)
    error->all(
        MLIP_DD_PLACE,
        "mlip/dd: `neigh_modify exclude` would remove pairs that the model needs. Remove it; "
        "to leave atoms out of the model, name their types NULL in pair_coeff, or exclude "
        "their group from `all`");
  // Both limits need a first group, and LAMMPS does not tell whether ghosts are limited to it.
  if (neighbor->includegroup || atom->firstgroupname)
    error->all(MLIP_DD_PLACE,
               "mlip/dd: neighbour lists or ghosts limited to a group would hide atoms from the "
               "model. Remove "
               "`atom_modify first`, `neigh_modify include` and `comm_modify group`");
  if (utils::strmatch(update->integrate_style, "^respa"))
    error->all(MLIP_DD_PLACE, "mlip/dd: run_style respa is not supported. Use `run_style verlet`");
  // Any sub-style but hybrid's own; sub-styles are computed in the order in which pair_style names
  // them.
  const bool hybrid = force->pair != this;
  if (state_->options.charges_to_q && hybrid && force->pair_match("^[^h]", 0, 1) != this)
    error->all(
        MLIP_DD_PLACE,
        "mlip/dd: `charges to_q` comes too late for a sub-style that is computed before, and "
        "would take the charges of the step before. Name mlip/dd first in pair_style {}",
        force->pair_style);
}

void PairMlipDD::refuse_removed_pairs()
{
  if (atom->molecular == Atom::ATOMIC) return;
  int removed = 0;    // the kinds of neighbours along bonds that LAMMPS leaves out of its lists
  for (int k = 1; k <= 3; ++k) removed |= (neighbor->special_flag[k] == 0) << k;
  if (!removed) return;
  tagint first = MAXTAGINT, lowest = MAXTAGINT;
  for (int i = 0; i < atom->nlocal; ++i) {
    if (state_->element_of_type[static_cast<std::size_t>(atom->type[i])] < 0) continue;
    bool some = !atom->nspecial;    // templates keep them elsewhere
    for (int k = 1; k <= 3 && !some; ++k)
      some =
          removed & (1 << k) && atom->nspecial[i][k - 1] > (k > 1 ? atom->nspecial[i][k - 2] : 0);
    if (some) first = std::min(first, atom->tag[i]);
  }
  MPI_Allreduce(&first, &lowest, 1, MPI_LMP_TAGINT, MPI_MIN, world);
  if (lowest != MAXTAGINT)
    error->all(
        MLIP_DD_PLACE,
        "mlip/dd: special_bonds removes pairs of bonded atoms, which the model needs (found: "
        "bonds of atom {}, step {}). Use `special_bonds lj/coul 1.0 1.0 1.0`",
        lowest, update->ntimestep);
}

}    // namespace LAMMPS_NS
