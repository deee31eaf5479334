# MLIP_DD_CUDA_ON: whether .cu files are compiled. Needs nvcc and a torch built with CUDA.
set(MLIP_DD_CUDA_ON OFF)
if(NOT MLIP_DD_CUDA STREQUAL OFF)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER AND MLIP_DD_TORCH_HAS_CUDA)
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES "80-real;90-real;90-virtual")
    endif()
    enable_language(CUDA)
    # The kernels need no more, and CMake before 3.26 does not know C++20 for CUDA 13.
    set(CMAKE_CUDA_STANDARD 17)
    find_package(CUDAToolkit REQUIRED)
    set(MLIP_DD_CUDA_ON ON)
  elseif(MLIP_DD_CUDA STREQUAL ON)
    message(FATAL_ERROR "MLIP_DD_CUDA=ON, but nvcc ('${CMAKE_CUDA_COMPILER}') or a CUDA build of torch "
                        "(found: ${MLIP_DD_TORCH_HAS_CUDA}) is missing. Install them, or use MLIP_DD_CUDA=OFF.")
  endif()
endif()
