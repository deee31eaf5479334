// How a scripted model is called: which of our inputs goes to which argument or dict key, and where
// the outputs are found. Worked out once from the model's own schema and the spec's names.
#pragma once

#include <torch/script.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "spec/model_spec.h"

namespace mlip_dd {

class ModelCall {
 public:
  // Throws Error when a name is no argument of forward, or an argument has no input.
  ModelCall(const torch::jit::Module &module, const ModelSpec &model);

  // Runs forward. `make(role)` returns the tensor of an input role.
  c10::IValue run(torch::jit::Module &module,
                  const std::function<at::Tensor(const std::string &)> &make) const;

  // The output called `role` in the spec. Throws Error listing what the model returned.
  at::Tensor output(const c10::IValue &result, const std::string &role) const;

 private:
  const ModelSpec &model_;
  bool takes_dict_ = false;
  std::vector<std::string>
      positional_roles_;    // by argument position; empty string: leave to the default
};

}    // namespace mlip_dd
