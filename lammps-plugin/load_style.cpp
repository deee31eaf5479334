#include "load_style.h"

#include <dlfcn.h>
#include <error.h>
#include <lammps.h>

#include <filesystem>
#include <string>

#include "load_checks.h"
#include "place.h"
#include "style.h"

namespace mlip_dd {

namespace {

constexpr const char *kLibrary = "libmlip_dd_style.so";

std::filesystem::path folder_of_this_library()
{
  Dl_info info{};
  dladdr(reinterpret_cast<const void *>(&folder_of_this_library), &info);
  return std::filesystem::path(info.dli_fname).parent_path();
}

// LAMMPS's library has a plain dgemm_ of its own, which would take the place of torch's for all
// float64 models; so torch is bound to its own symbols first. Not where the program holds the
// standard streams itself (copy relocation): torch would then print to streams that nobody opened.
int how_to_bind()
{
  const char *const streams = "_ZSt4cout";
  void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_NOLOAD);
  const bool copied = library && dlsym(library, streams) != dlsym(RTLD_DEFAULT, streams);
  if (library) dlclose(library);
  return copied || !library ? 0 : RTLD_DEEPBIND;
}

// What this program can tell of itself, asked for by name since it may be linked in many ways.
HostBuild build_of(LAMMPS_NS::LAMMPS &lammps)
{
  HostBuild build;
  // Its own function knows the layout of its own class.
  using Version = int(void *);
  if (auto *version = reinterpret_cast<Version *>(dlsym(RTLD_DEFAULT, "lammps_version")))
    build.version = version(&lammps);
  else
    build.version = lammps.num_ver;
  using ExtractSetting = int(void *, const char *);
  if (auto *setting =
          reinterpret_cast<ExtractSetting *>(dlsym(RTLD_DEFAULT, "lammps_extract_setting")))
    build.id_bytes = static_cast<std::size_t>(setting(nullptr, "tagint"));
  using LibraryVersion = int(char *, int *);
  if (auto *version =
          reinterpret_cast<LibraryVersion *>(dlsym(RTLD_DEFAULT, "MPI_Get_library_version"))) {
    std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
    int length = 0;
    version(text.data(), &length);
    build.mpi = mpi_family(text.substr(0, static_cast<std::size_t>(length)));
  }
  using Accelerator = int(const char *, const char *, const char *);
  auto *accelerator =
      reinterpret_cast<Accelerator *>(dlsym(RTLD_DEFAULT, "lammps_config_accelerator"));
  const auto setting_of = [&](const char *category, std::initializer_list<const char *> settings) {
    for (const char *setting : settings)
      if (accelerator && accelerator("KOKKOS", category, setting)) return std::string(setting);
    return std::string();
  };
  build.kokkos_precision = setting_of("precision", {"double", "mixed", "single"});
  build.kokkos_layout = setting_of("layout", {"legacy", "default"});
  if (!build.kokkos_precision.empty())
    build.kokkos_cuda = accelerator("KOKKOS", "api", "cuda") ? "with CUDA" : "without CUDA";
  return build;
}

}    // namespace

namespace {

MakeStyle *load_maker(LAMMPS_NS::LAMMPS *lammps)
{
  if (const std::string wrong = disagreement(built_for(), build_of(*lammps)); !wrong.empty())
    lammps->error->all(MLIP_DD_PLACE, "mlip/dd: " + wrong);
  const std::string path = (folder_of_this_library() / kLibrary).string();
  // Stays loaded: torch does not survive being unloaded.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | how_to_bind());
  MakeStyle *make = nullptr;
  if (library) make = reinterpret_cast<MakeStyle *>(dlsym(library, kMakeStyle));
  if (!make)
    lammps->error->all(
        MLIP_DD_PLACE,
        "mlip/dd: its library can't be loaded ({}). Is torch installed where it was when "
        "mlip-dd was, in the same version? Install mlip-dd again",
        dlerror());
  return make;
}

}    // namespace

template <StyleVariant variant>
LAMMPS_NS::Pair *make_pair_style(LAMMPS_NS::LAMMPS *lammps)
{
  static MakeStyle *make = nullptr;
  if (!make) make = load_maker(lammps);
  return make(lammps, variant);
}

template LAMMPS_NS::Pair *make_pair_style<StyleVariant::plain>(LAMMPS_NS::LAMMPS *);
#ifdef LMP_KOKKOS
template LAMMPS_NS::Pair *make_pair_style<StyleVariant::kokkos_device>(LAMMPS_NS::LAMMPS *);
template LAMMPS_NS::Pair *make_pair_style<StyleVariant::kokkos_host>(LAMMPS_NS::LAMMPS *);
#endif

}    // namespace mlip_dd
