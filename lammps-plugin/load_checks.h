// Whether the program that loads this plugin is the one that it was built for: the layout of
// LAMMPS's classes depends on its version, integer sizes and MPI. No LAMMPS, no torch.
#pragma once

#include <cstddef>
#include <string>

namespace mlip_dd {

// One side of the comparison. Zero or empty: not known, and not compared.
struct HostBuild {
  int version = 0;             // LAMMPS's, as 20250722
  std::size_t id_bytes = 0;    // of atom IDs: 4, or 8 for BIGBIG
  std::string mpi = {};        // "MPICH", "Open MPI"
  // Of the package KOKKOS: "double", "mixed" or "single"; "legacy" or "default"; "with CUDA" or
  // "without CUDA".
  std::string kokkos_precision = {};
  std::string kokkos_layout = {};
  std::string kokkos_cuda = {};
};

// The build that this was compiled against.
HostBuild built_for();

// The family of MPI libraries that a library's version string belongs to, or nothing.
std::string mpi_family(const std::string &library_version);

// One sentence with what was built for, what is found, and the cure; empty where all agrees.
std::string disagreement(const HostBuild &built, const HostBuild &found);

}    // namespace mlip_dd
