# Target mlip_dd::lammps_kokkos and MLIP_DD_KOKKOS_ON, where a LAMMPS with the KOKKOS package is given:
#   -D MLIP_DD_KOKKOS_LAMMPS=<prefix>    an installed one, with <prefix>/include/lammps/KOKKOS; or
#   -D LAMMPS_SOURCE_DIR=<folder>        its source folder, with src/KOKKOS.
# Kokkos itself is found in the prefix, or by -D Kokkos_DIR=<folder of KokkosConfig.cmake>. As with
# LAMMPS, nothing is linked: the program brings its own.
set(MLIP_DD_KOKKOS_LAMMPS "" CACHE PATH "Prefix of an installed LAMMPS with KOKKOS")
set(LAMMPS_SOURCE_DIR "" CACHE PATH "Source folder of a LAMMPS with KOKKOS")
set(MLIP_DD_KOKKOS_PRECISION DOUBLE CACHE STRING "As LAMMPS's KOKKOS_PREC: DOUBLE, MIXED or SINGLE")
set(MLIP_DD_KOKKOS_LAYOUT LEGACY CACHE STRING "As LAMMPS's KOKKOS_LAYOUT: LEGACY or DEFAULT")
set(MLIP_DD_KOKKOS_ON OFF)

set(kokkos_headers "")
if(MLIP_DD_KOKKOS_LAMMPS)
  set(kokkos_headers "${MLIP_DD_KOKKOS_LAMMPS}/include/lammps")
elseif(LAMMPS_SOURCE_DIR)
  set(kokkos_headers "${LAMMPS_SOURCE_DIR}/src")
endif()
if(kokkos_headers)
  if(NOT EXISTS "${kokkos_headers}/KOKKOS/kokkos_type.h")
    message(FATAL_ERROR "No KOKKOS/kokkos_type.h in '${kokkos_headers}'. Give -D MLIP_DD_KOKKOS_LAMMPS=<prefix> of a "
                        "LAMMPS that was installed with PKG_KOKKOS, or -D LAMMPS_SOURCE_DIR=<its source folder>.")
  endif()
  find_package(Kokkos QUIET HINTS ${MLIP_DD_KOKKOS_LAMMPS} ${MLIP_DD_KOKKOS_LAMMPS}/lib/x86_64-linux-gnu)
  if(NOT Kokkos_FOUND)
    message(FATAL_ERROR "No KokkosConfig.cmake found. Give -D Kokkos_DIR=<its folder, as lib/cmake/Kokkos>, of the Kokkos "
                        "that LAMMPS was built with. A LAMMPS with its own copy of Kokkos installs none: build it with "
                        "-D EXTERNAL_KOKKOS=ON (docs/kokkos.md).")
  endif()
  set(precision_DOUBLE DOUBLE_DOUBLE)
  set(precision_MIXED SINGLE_DOUBLE)
  set(precision_SINGLE SINGLE_SINGLE)
  if(NOT precision_${MLIP_DD_KOKKOS_PRECISION})
    message(FATAL_ERROR "MLIP_DD_KOKKOS_PRECISION must be DOUBLE, MIXED or SINGLE (found: ${MLIP_DD_KOKKOS_PRECISION}).")
  endif()
  mlip_dd_lammps_version("${kokkos_headers}" MLIP_DD_KOKKOS_LAMMPS_VERSION)
  if(MLIP_DD_KOKKOS_LAMMPS_VERSION LESS 20260704)
    message(FATAL_ERROR "The Kokkos variant needs LAMMPS of 4 Jul 2026 or newer, by version.h beside pair.h (found: "
                        "${MLIP_DD_KOKKOS_LAMMPS_VERSION} in '${kokkos_headers}'). Use a newer LAMMPS, or the plain style alone.")
  endif()
  mlip_dd_lammps_target(mlip_dd_lammps_kokkos "${kokkos_headers}")
  add_library(mlip_dd::lammps_kokkos ALIAS mlip_dd_lammps_kokkos)
  target_include_directories(mlip_dd_lammps_kokkos SYSTEM INTERFACE
    ${kokkos_headers}/KOKKOS $<TARGET_PROPERTY:Kokkos::kokkoscore,INTERFACE_INCLUDE_DIRECTORIES>)
  if(Kokkos_ENABLE_OPENMP)
    find_package(OpenMP REQUIRED COMPONENTS CXX)
    target_compile_options(mlip_dd_lammps_kokkos INTERFACE ${OpenMP_CXX_FLAGS})
  endif()
  if(Kokkos_ENABLE_CUDA)
    if(NOT MLIP_DD_CUDA_ON)
      message(FATAL_ERROR "This Kokkos is built for CUDA. The plugin for it needs nvcc and a CUDA build of torch: "
                          "set -D MLIP_DD_CUDA=ON and have nvcc on PATH.")
    endif()
    # What makes Kokkos's launch compiler call nvcc, and its options; torch's headers want one more.
    target_compile_definitions(mlip_dd_lammps_kokkos INTERFACE
      $<TARGET_PROPERTY:Kokkos::kokkoscore,INTERFACE_COMPILE_DEFINITIONS>)
    target_compile_options(mlip_dd_lammps_kokkos INTERFACE
      $<TARGET_PROPERTY:Kokkos::kokkoscore,INTERFACE_COMPILE_OPTIONS> --expt-relaxed-constexpr)
  endif()
  target_compile_definitions(mlip_dd_lammps_kokkos INTERFACE
    LMP_KOKKOS LMP_KOKKOS_${precision_${MLIP_DD_KOKKOS_PRECISION}} LMP_KOKKOS_LAYOUT_${MLIP_DD_KOKKOS_LAYOUT})
  set(MLIP_DD_KOKKOS_ON ON)
endif()
