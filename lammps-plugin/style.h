// The one function through which the plugin reaches the library with the pair style.
#pragma once

namespace LAMMPS_NS {
class LAMMPS;
class Pair;
}    // namespace LAMMPS_NS

namespace mlip_dd {

using MakeStyle = LAMMPS_NS::Pair *(LAMMPS_NS::LAMMPS *);
inline constexpr const char *kMakeStyle = "mlip_dd_make_style";

}    // namespace mlip_dd

extern "C" __attribute__((visibility("default"))) LAMMPS_NS::Pair *mlip_dd_make_style(
    LAMMPS_NS::LAMMPS *lammps);
