#include "style_kokkos.h"

#include <accelerator_kokkos.h>
#include <error.h>
#include <lammps.h>

#include "pair_mlip_dd_kokkos.h"
#include "place.h"

namespace mlip_dd {

LAMMPS_NS::Pair *make_kokkos_style(LAMMPS_NS::LAMMPS *lammps, StyleVariant variant)
{
  if (!lammps->kokkos || !lammps->kokkos->kokkos_exists || !lammps->atomKK)
    lammps->error->all(
        MLIP_DD_PLACE,
        "mlip/dd: the style mlip/dd/kk runs under Kokkos alone. Start LAMMPS with `-k on`, for "
        "example `lmp -k on t 2 -sf kk`, or use `pair_style mlip/dd`");
#ifdef LMP_KOKKOS_GPU
  if (variant == StyleVariant::kokkos_host)
    return new LAMMPS_NS::PairMlipDDKokkos<LMPHostType>(lammps);
#else
  (void)variant;    // the host is the device
#endif
  return new LAMMPS_NS::PairMlipDDKokkos<LMPDeviceType>(lammps);
}

}    // namespace mlip_dd
