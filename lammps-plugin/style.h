// The one function through which the plugin reaches the library with the pair style.
#pragma once

namespace LAMMPS_NS {
class LAMMPS;
class Pair;
}    // namespace LAMMPS_NS

namespace mlip_dd {

// Where the style keeps LAMMPS's arrays.
enum class StyleVariant {
  plain,
  kokkos_device,    // of the package KOKKOS, where its other styles have them
  kokkos_host       // the same, but on the host
};

using MakeStyle = LAMMPS_NS::Pair *(LAMMPS_NS::LAMMPS *, mlip_dd::StyleVariant);
inline constexpr const char *kMakeStyle = "mlip_dd_make_style";

}    // namespace mlip_dd

extern "C" __attribute__((visibility("default"))) LAMMPS_NS::Pair *mlip_dd_make_style(
    LAMMPS_NS::LAMMPS *lammps, mlip_dd::StyleVariant variant);
