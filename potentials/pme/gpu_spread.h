// Charges to mesh points and back on a GPU. Built where CUDA's compiler is.
#pragma once

#include "potentials/pme/spread.h"

namespace mlip_dd {

// As make_spline_charges(); patches and results lie with the CPU.
std::unique_ptr<SplineCharges> make_gpu_spline_charges(int gpu);

}    // namespace mlip_dd
