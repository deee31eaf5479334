// What LAMMPS calls when it loads the plugin: registers the pair style.
#include <lammps.h>

#include "load_style.h"
#include "plugin_api.h"

void lammpsplugin_init(void *lammps, void *handle, void *register_function)
{
  lammpsplugin_t plugin{};
  // The headers carry no version; LAMMPS warns when this differs from its own, so give it its own.
  plugin.version = static_cast<LAMMPS_NS::LAMMPS *>(lammps)->version;
  plugin.style = "pair";
  plugin.name = "mlip/dd";
  plugin.info = "machine-learned potentials with per-layer halo exchange";
  plugin.author = "the mlip-dd developers";
  plugin.creator.v1 = reinterpret_cast<lammpsplugin_factory1 *>(&mlip_dd::make_pair_style);
  plugin.handle = handle;
  reinterpret_cast<lammpsplugin_regfunc>(register_function)(&plugin, lammps);
}
