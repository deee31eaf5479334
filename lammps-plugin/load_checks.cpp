#include "load_checks.h"

#include <mpi.h>

#include "base/error.h"

namespace mlip_dd {

namespace {

constexpr const char *kCure =
    "Build mlip-dd for the LAMMPS that runs it: -D MLIP_DD_LAMMPS_INCLUDE=..., -D "
    "MLIP_DD_LAMMPS_BIGINT=..., -D MPI_CXX_COMPILER=..., or install both with the same pip";

std::string message(const std::string &what, const std::string &built, const std::string &found)
{
  return describe({"this plugin was built for " + what + " " + built, found, "", kCure});
}

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

std::string disagreement(const HostBuild &built, const HostBuild &found)
{
  if (built.mpi != found.mpi && !built.mpi.empty() && !found.mpi.empty())
    return message("the MPI library", built.mpi, found.mpi);
  if (built.id_bytes != found.id_bytes && built.id_bytes && found.id_bytes)
    return message("atom IDs of", std::to_string(8 * built.id_bytes) + " bits",
                   std::to_string(8 * found.id_bytes) + " bits");
  // A program without KOKKOS has neither: it then runs the plain style.
  if (built.kokkos_precision != found.kokkos_precision && !built.kokkos_precision.empty() &&
      !found.kokkos_precision.empty())
    return message("KOKKOS in precision", built.kokkos_precision, found.kokkos_precision);
  if (built.kokkos_cuda != found.kokkos_cuda && !built.kokkos_cuda.empty() &&
      !found.kokkos_cuda.empty())
    return message("KOKKOS", built.kokkos_cuda, found.kokkos_cuda);
  if (built.version != found.version && built.version && found.version)
    return message("LAMMPS", std::to_string(built.version), std::to_string(found.version));
  return {};
}

}    // namespace mlip_dd
