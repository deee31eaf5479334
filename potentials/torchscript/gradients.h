// From a forward to the gradients that forces and virial are made of.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/AutogradState.h>

#include <map>
#include <optional>
#include <string>

#include "intercept/interception.h"
#include "pipeline/atom_fields.h"
#include "potentials/torchscript/model_inputs.h"

namespace mlip_dd {

// While it lives, backward runs in the calling thread on every device: exchanges call MPI, which
// hosts often start without support of threads.
class BackwardInThisThread {
 public:
  BackwardInThisThread();
  ~BackwardInThisThread();
  BackwardInThisThread(const BackwardInThisThread &) = delete;
  BackwardInThisThread &operator=(const BackwardInThisThread &) = delete;

 private:
  c10::AutogradState before_;
};

// A forward whose gradients are still to be taken.
struct Forward {
  ModelInputs inputs;
  std::optional<Interception> interception;
  at::Tensor energy;                            // this rank's part
  std::map<std::string, at::Tensor> outputs;    // [n_owned, width] float64
};

// float64; undefined where nothing depends on them, or they are no leaves.
struct Gradients {
  at::Tensor edges;        // [E, 3]
  at::Tensor positions;    // [rows, 3]
  at::Tensor cell;         // [3, 3]
  std::map<std::string, at::Tensor> fields;
};

// Of energy_seed * energy + sum over `seeds` of <seed, output>, seeds [n_owned, width]. Collective
// in the sense of the exchange: all adjoints run on every rank that shares rows, since the chain of
// exchanges is a root of its own.
Gradients gradients_of(const Forward &run, ForceRoute route, double energy_seed,
                       const AtomFields &seeds);

}    // namespace mlip_dd
