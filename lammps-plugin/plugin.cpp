// What LAMMPS calls when it loads the plugin: registers the pair style and its variants.
#include <lammps.h>

#include "load_style.h"
#include "plugin_api.h"

namespace {

using MakePair = LAMMPS_NS::Pair *(LAMMPS_NS::LAMMPS *);

struct NamedStyle {
  const char *name;
  MakePair *make;
};

constexpr NamedStyle kStyles[] = {
    {"mlip/dd", &mlip_dd::make_pair_style<mlip_dd::StyleVariant::plain>},
#ifdef LMP_KOKKOS
    {"mlip/dd/kk", &mlip_dd::make_pair_style<mlip_dd::StyleVariant::kokkos_device>},
    {"mlip/dd/kk/device", &mlip_dd::make_pair_style<mlip_dd::StyleVariant::kokkos_device>},
    {"mlip/dd/kk/host", &mlip_dd::make_pair_style<mlip_dd::StyleVariant::kokkos_host>},
#endif
};

}    // namespace

void lammpsplugin_init(void *lammps, void *handle, void *register_function)
{
  lammpsplugin_t plugin{};
  // The headers carry no version; LAMMPS warns when this differs from its own, so give it its own.
  plugin.version = static_cast<LAMMPS_NS::LAMMPS *>(lammps)->version;
  plugin.style = "pair";
  plugin.info = "machine-learned potentials with per-layer halo exchange";
  plugin.author = "the mlip-dd developers";
  plugin.handle = handle;
  for (const NamedStyle &style : kStyles) {
    plugin.name = style.name;
    plugin.creator.v1 = reinterpret_cast<lammpsplugin_factory1 *>(style.make);
    reinterpret_cast<lammpsplugin_regfunc>(register_function)(&plugin, lammps);
  }
}
