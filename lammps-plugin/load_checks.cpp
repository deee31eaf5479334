#include "load_checks.h"

#include <mpi.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/error.h"

namespace mlip_dd {

namespace {

const std::string kPlainCure =
    "Build mlip-dd for the LAMMPS that runs it: -D MLIP_DD_LAMMPS_INCLUDE=..., -D "
    "MLIP_DD_LAMMPS_BIGINT=..., -D MPI_CXX_COMPILER=..., or install both with the same pip";
// The plugin with the Kokkos variant is built by an option of its own.
const std::string kKokkosCure =
    "Build mlip-dd for the LAMMPS that runs it: -D MLIP_DD_KOKKOS_LAMMPS=<its prefix>";

std::string upper(std::string text)
{
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

struct Compared {
  std::string what;
  std::string built, found;    // empty: not known
  std::string cure;
};

std::string bits(std::size_t bytes) { return bytes ? std::to_string(8 * bytes) + " bits" : ""; }

std::string number(int version) { return version ? std::to_string(version) : ""; }

}    // namespace

HostBuild built_for()
{
  HostBuild build;
  build.version = MLIP_DD_LAMMPS_VERSION;
#ifdef LAMMPS_BIGBIG
  build.id_bytes = 8;
#else
  build.id_bytes = 4;
#endif
#if defined(MPICH_VERSION) || defined(I_MPI_VERSION)
  build.mpi = "MPICH";
#elif defined(OPEN_MPI)
  build.mpi = "Open MPI";
#endif
#ifdef MLIP_DD_KOKKOS_PRECISION
  build.kokkos_precision = MLIP_DD_KOKKOS_PRECISION;
  build.kokkos_layout = MLIP_DD_KOKKOS_LAYOUT;
  build.kokkos_cuda = MLIP_DD_KOKKOS_CUDA;
#endif
  return build;
}

std::string mpi_family(const std::string &library_version)
{
  // Intel's, Cray's and MVAPICH share MPICH's binary interface.
  for (const char *name : {"MPICH", "Intel(R) MPI", "MVAPICH"})
    if (library_version.find(name) != std::string::npos) return "MPICH";
  return library_version.find("Open MPI") != std::string::npos ? "Open MPI" : "";
}

// What keeps the next ones from being read rightly comes first.
std::string disagreement(const HostBuild &built, const HostBuild &found)
{
  const bool kokkos = !built.kokkos_precision.empty();
  const std::string cure = kokkos ? kKokkosCure : kPlainCure;
  // A program without KOKKOS has none of its own: it then runs the plain style.
  const std::vector<Compared> rows{
      {"the MPI library", built.mpi, found.mpi,
       kokkos ? cure + " -D MPI_CXX_COMPILER=<its mpicxx>" : cure},
      {"atom IDs of", bits(built.id_bytes), bits(found.id_bytes),
       kokkos ? cure + " -D MLIP_DD_LAMMPS_BIGINT=..." : cure},
      {"KOKKOS in precision", built.kokkos_precision, found.kokkos_precision,
       cure + " -D MLIP_DD_KOKKOS_PRECISION=" + upper(found.kokkos_precision)},
      {"KOKKOS with the view layout", built.kokkos_layout, found.kokkos_layout,
       cure + " -D MLIP_DD_KOKKOS_LAYOUT=" + upper(found.kokkos_layout)},
      {"KOKKOS", built.kokkos_cuda, found.kokkos_cuda, cure},
      {"LAMMPS", number(built.version), number(found.version), cure},
  };
  for (const Compared &row : rows)
    if (!row.built.empty() && !row.found.empty() && row.built != row.found)
      return describe(
          {"this plugin was built for " + row.what + " " + row.built, row.found, "", row.cure});
  return {};
}

}    // namespace mlip_dd
