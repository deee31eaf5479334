// How a scripted model is called: which of our inputs goes to which argument or dict key, and where
// the outputs are found. Worked out once from the model's own schema and the spec's names.
#pragma once

#include <torch/script.h>

#include <map>
#include <string>
#include <vector>

#include "spec/model_spec.h"

namespace mlip_dd {

class ModelCall {
 public:
  // Throws Error when a name is no argument of forward, or an argument has no input.
  ModelCall(const torch::jit::Module &module, const ModelSpec &model);

  // Runs forward with `inputs`, by role; those that the spec does not name are left out.
  c10::IValue run(torch::jit::Module &module,
                  const std::map<std::string, c10::IValue> &inputs) const;

  // The output called `role` in the spec. Throws Error listing what the model returned.
  at::Tensor output(const c10::IValue &result, const std::string &role) const;

 private:
  const ModelSpec &model_;
  int dict_position_ = -1;    // of the argument that is a dict of named tensors; -1: none
  std::vector<std::string> dict_roles_;
  std::vector<std::string>
      positional_roles_;    // by argument position; empty string: leave to the default
};

}    // namespace mlip_dd
