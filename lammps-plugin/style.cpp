#include "style.h"

#include "pair_mlip_dd.h"

LAMMPS_NS::Pair *mlip_dd_make_style(LAMMPS_NS::LAMMPS *lammps)
{
  return new LAMMPS_NS::PairMlipDD(lammps);
}
