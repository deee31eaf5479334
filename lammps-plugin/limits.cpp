// What LAMMPS can be told to do that this pair style refuses, because the model's numbers would be
// wrong.
#include <atom.h>
#include <error.h>
#include <force.h>
#include <neighbor.h>
#include <update.h>
#include <utils.h>

#include "pair_mlip_dd.h"
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
  if (atom->molecular != Atom::ATOMIC && (atom->nbonds || atom->nangles || atom->ndihedrals))
    for (int k = 1; k <= 3; ++k)
      if (force->special_lj[k] == 0.0 && force->special_coul[k] == 0.0)
        error->all(
            MLIP_DD_PLACE,
            "mlip/dd: special_bonds removes pairs of bonded atoms, which the model needs. Use "
            "`special_bonds lj/coul 1.0 1.0 1.0`");
  if (utils::strmatch(update->integrate_style, "^respa"))
    error->all(MLIP_DD_PLACE, "mlip/dd: run_style respa is not supported. Use `run_style verlet`");
}

}    // namespace LAMMPS_NS
