# Target mlip_dd::torch: headers and libraries of the torch that Python imports.
# torch's own CMake package insists on a CUDA toolkit when torch was built with CUDA; a machine
# that only runs the CPU path has none, so the few libraries needed are named here.
if(NOT MLIP_DD_TORCH_ROOT)
  mlip_dd_python_package(torch MLIP_DD_TORCH_ROOT)
endif()
if(NOT EXISTS "${MLIP_DD_TORCH_ROOT}/include/torch/script.h")
  message(FATAL_ERROR "torch was not found for ${Python3_EXECUTABLE}. Install it with "
                      "`pip install torch`, or give -D MLIP_DD_TORCH_ROOT=<folder of the torch package or of libtorch>.")
endif()
add_library(mlip_dd_torch INTERFACE)
add_library(mlip_dd::torch ALIAS mlip_dd_torch)
target_include_directories(mlip_dd_torch SYSTEM INTERFACE
  ${MLIP_DD_TORCH_ROOT}/include ${MLIP_DD_TORCH_ROOT}/include/torch/csrc/api/include)
target_link_directories(mlip_dd_torch INTERFACE ${MLIP_DD_TORCH_ROOT}/lib)
# --no-as-needed: libtorch carries no symbols of its own but loads the CUDA backend.
target_link_libraries(mlip_dd_torch INTERFACE torch_cpu c10 "-Wl,--push-state,--no-as-needed" torch "-Wl,--pop-state")
set(MLIP_DD_TORCH_HAS_CUDA OFF)
if(EXISTS "${MLIP_DD_TORCH_ROOT}/lib/libc10_cuda.so")
  set(MLIP_DD_TORCH_HAS_CUDA ON)
endif()
