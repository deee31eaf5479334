// If these fail, a plugin is loaded into a program that it was not built for, and crashes or
// computes nonsense; or into none, since builds that fit are told apart.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.h"
#include "lammps-plugin/load_checks.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

TEST_CASE("the MPI library is known by what it says of itself")
{
  const std::vector<std::pair<std::string, std::string>> rows{
      {"MPICH Version:\t5.0.0\nMPICH Release date:\tunreleased", "MPICH"},
      {"Intel(R) MPI Library 2021.11 for Linux* OS", "MPICH"},
      {"MVAPICH Version      : 4.0", "MPICH"},
      {"MVAPICH2 Version      :\t2.3.7", "MPICH"},
      {"MPI VERSION    : CRAY MPICH version 8.1.29.17 (ANL base 3.4a2)", "MPICH"},
      {"Open MPI v5.0.6, package: Debian OpenMPI", "Open MPI"},
      {"a library of one's own", ""},
      {"", ""},
  };
  for (const auto &[text, family] : rows) {
    INFO(text);
    CHECK(mpi_family(text) == family);
  }
}

TEST_CASE("what differs is named, with both sides and a cure, in one line")
{
  const HostBuild built{20250722, 4, "MPICH"};
  struct Row {
    HostBuild found;
    std::vector<std::string> said;    // nothing: the builds fit
  };
  const std::vector<Row> rows{
      {built, {}},
      {{20250722, 8, "MPICH"}, {"32 bits", "64 bits", "MLIP_DD_LAMMPS_BIGINT"}},
      {{20250722, 4, "Open MPI"}, {"MPICH", "Open MPI", "MPI_CXX_COMPILER"}},
      {{20240829, 4, "MPICH"}, {"20250722", "20240829", "MLIP_DD_LAMMPS_INCLUDE"}},
      // The first that keeps the others from being read rightly.
      {{20240829, 8, "Open MPI"}, {"Open MPI"}},
      {{20240829, 8, "MPICH"}, {"64 bits"}},
      // What is not known is not compared.
      {{}, {}},
      {{0, 4, ""}, {}},
      {{20250722, 0, "MPICH"}, {}},
  };
  for (const Row &row : rows) {
    const std::string text = disagreement(built, row.found);
    INFO(row.found.version << " " << row.found.id_bytes << " " << row.found.mpi << ": " << text);
    CHECK(text.empty() == row.said.empty());
    for (const std::string &word : row.said) CHECK_THAT(text, contains(word));
    CHECK(std::count(text.begin(), text.end(), '\n') == 0);
  }
}

TEST_CASE("a Kokkos build of another kind is named, with the option that would fit")
{
  const HostBuild built{20260704, 4, "MPICH", "double", "legacy", "without CUDA"};
  struct Row {
    HostBuild found;
    std::vector<std::string> said;
  };
  const std::vector<Row> rows{
      {built, {}},
      {{20260704, 4, "MPICH", "mixed", "legacy", "without CUDA"},
       {"precision double", "found: mixed", "MLIP_DD_KOKKOS_PRECISION=MIXED"}},
      {{20260704, 4, "MPICH", "single", "default", "without CUDA"},
       {"found: single", "MLIP_DD_KOKKOS_PRECISION=SINGLE"}},
      {{20260704, 4, "MPICH", "double", "default", "without CUDA"},
       {"layout legacy", "found: default", "MLIP_DD_KOKKOS_LAYOUT=DEFAULT"}},
      {{20260704, 4, "MPICH", "double", "legacy", "with CUDA"},
       {"without CUDA", "found: with CUDA", "MLIP_DD_KOKKOS_LAMMPS"}},
      {{20270101, 4, "MPICH", "double", "legacy", "without CUDA"},
       {"20260704", "20270101", "MLIP_DD_KOKKOS_LAMMPS"}},
      {{20260704, 4, "Open MPI", "mixed", "legacy", "without CUDA"},
       {"MPICH", "Open MPI", "MPI_CXX_COMPILER", "MLIP_DD_KOKKOS_LAMMPS"}},
      // A program without KOKKOS runs the plain style.
      {{20260704, 4, "MPICH"}, {}},
  };
  for (const Row &row : rows) {
    const std::string text = disagreement(built, row.found);
    INFO(row.found.kokkos_precision << " " << row.found.kokkos_layout << ": " << text);
    CHECK(text.empty() == row.said.empty());
    for (const std::string &word : row.said) CHECK_THAT(text, contains(word));
    CHECK(std::count(text.begin(), text.end(), '\n') == 0);
  }
  // The plugin without the Kokkos variant runs in any of them.
  CHECK(disagreement({20260704, 4, "MPICH"}, rows[1].found).empty());
}

TEST_CASE("this build knows what it was built for")
{
  const HostBuild build = built_for();
  CHECK((build.version == 0 || build.version >= 20240101));    // 0: headers alone
  CHECK((build.id_bytes == 4 || build.id_bytes == 8));
  CHECK((build.mpi == "MPICH" || build.mpi == "Open MPI"));
  CHECK(disagreement(build, build).empty());
}
