#include "style.h"

#include <error.h>
#include <lammps.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/headeronly/version.h>

#include "pair_mlip_dd.h"
#include "place.h"

#ifdef LMP_KOKKOS
#include "kokkos/style_kokkos.h"
#endif

LAMMPS_NS::Pair *mlip_dd_make_style(LAMMPS_NS::LAMMPS *lammps, mlip_dd::StyleVariant variant)
{
  // A torch that the program had loaded before (Python's) takes the place of ours.
  constexpr std::uint64_t kPatch = (std::uint64_t{1} << 48) - 1;    // and what is below it
  if (const std::uint64_t found = aoti_torch_abi_version();
      (found & ~kPatch) != (TORCH_ABI_VERSION & ~kPatch))
    lammps->error->all(
        MLIP_DD_PLACE,
        "mlip/dd: this plugin was built for torch {} (found: torch {}.{}.{} in this program). "
        "Install mlip-dd and torch in one environment, and import that torch alone",
        TORCH_VERSION, found >> 56, (found >> 48) & 0xff, (found >> 40) & 0xff);
#ifdef LMP_KOKKOS
  if (variant != mlip_dd::StyleVariant::plain) return mlip_dd::make_kokkos_style(lammps, variant);
#else
  (void)variant;    // the plugin names no other where there is none
#endif
  return new LAMMPS_NS::PairMlipDD(lammps);
}
