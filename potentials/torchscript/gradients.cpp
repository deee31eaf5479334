#include "potentials/torchscript/gradients.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <vector>

#include "pipeline/field_rows.h"

namespace mlip_dd {

BackwardInThisThread::BackwardInThisThread() : before_(c10::AutogradState::get_tls_state())
{
  c10::AutogradState state = before_;
  state.set_multithreading_enabled(false);
  c10::AutogradState::set_tls_state(state);
}

BackwardInThisThread::~BackwardInThisThread() { c10::AutogradState::set_tls_state(before_); }

Gradients gradients_of(const Forward &run, ForceRoute route, double energy_seed,
                       const AtomFields &seeds)
{
  std::vector<at::Tensor> roots, root_seeds, leaves;
  std::vector<at::Tensor *> wanted;
  Gradients found;
  const auto add_leaf = [&](const at::Tensor &leaf, at::Tensor &gradient) {
    if (!leaf.defined() || !leaf.requires_grad()) return;
    leaves.push_back(leaf);
    wanted.push_back(&gradient);
  };
  add_leaf(run.inputs.edge_leaf, found.edges);
  if (route == ForceRoute::positions) {
    add_leaf(run.inputs.positions_leaf, found.positions);
    add_leaf(run.inputs.cell_leaf, found.cell);
  }
  for (const auto &[name, leaf] : run.inputs.field_leaves) add_leaf(leaf, found.fields[name]);
  // The model has differentiated already, or there is nothing to differentiate by.
  if (wanted.empty()) return found;
  if (run.energy.requires_grad()) {
    roots.push_back(run.energy);
    root_seeds.push_back(at::full_like(run.energy, energy_seed));
  }
  for (const auto &[name, seed] : seeds) {
    const at::Tensor &field = run.outputs.at(name);
    if (!field.requires_grad()) continue;
    roots.push_back(field);
    root_seeds.push_back(
        rows_of(seed).to(field.device(), at::kDouble, /*non_blocking=*/false, /*copy=*/true));
  }
  if (run.interception && run.interception->token_root().grad_fn()) {
    roots.push_back(run.interception->token_root());
    root_seeds.push_back(at::zeros_like(run.interception->token_root()));
    leaves.push_back(run.interception->token_leaf());
  }
  if (roots.empty()) return found;
  const BackwardInThisThread in_this_thread;
  const auto gradients = torch::autograd::grad(roots, leaves, root_seeds, /*retain_graph=*/false,
                                               /*create_graph=*/false, /*allow_unused=*/true);
  for (std::size_t k = 0; k < wanted.size(); ++k)
    if (gradients[k].defined()) *wanted[k] = gradients[k].to(at::kDouble).contiguous();
  return found;
}

}    // namespace mlip_dd
