// Reads a TorchScript file and makes it ready for repeated evaluation.
#pragma once

#include <torch/script.h>

#include <string>
#include <vector>

#include "spec/families.h"
#include "spec/model_spec.h"

namespace mlip_dd {

struct LoadedModule {
  torch::jit::Module
      module;               // in evaluation mode, without gradients of parameters, on the device
  c10::ScalarType dtype;    // of most of its weights
  std::int64_t weights;     // how many floating numbers: parameters, buffers, constants
};

// Loads the model's libraries of operators first. Checks the file's elements and cutoff against the
// spec where the family says which extra file holds them. Throws Error naming the file, what was
// found and the cure.
LoadedModule load_module(const ModelSpec &model, const Family &family, const c10::Device &device);

}    // namespace mlip_dd
