// From the models' results to LAMMPS's arrays.
#include <atom.h>
#include <comm.h>
#include <force.h>
#include <kspace.h>
#include <update.h>

#include <algorithm>

#include "atom_outputs.h"
#include "extracted_values.h"
#include "faulty_result.h"
#include "pair_state.h"
#include "virial_order.h"

namespace LAMMPS_NS {

// LAMMPS's virial is sum x_a F_b, the runner's own sign.
void PairMlipDD::add_sums()
{
  const mlip_dd::PotentialOutput &output = state_->pipeline->output();
  const double to_energy = state_->units.energy_to_host();
  if (eflag_global) eng_vdwl += to_energy * output.energy;
  std::ranges::transform(state_->pipeline->energies(), pvector,
                         [to_energy](double energy) { return to_energy * energy; });
  if (vflag_global)
    for (int k = 0; k < 6; ++k)
      virial[k] += to_energy * mlip_dd::symmetric_part(output.virial.data(), k);
}

void PairMlipDD::add_results()
{
  add_sums();
  const mlip_dd::PotentialOutput &output = state_->pipeline->output();
  const double to_energy = state_->units.energy_to_host();
  const double to_force = state_->units.force_to_host();
  const std::vector<double> &centroid =
      output.centroid_virial.empty() ? output.node_virial : output.centroid_virial;
  for (int i = 0; i < atom->nlocal; ++i) {
    const std::int64_t row = state_->host.row(i);
    if (row == mlip_dd::kNotInModel) continue;
    const double *force = &output.forces[3 * static_cast<std::size_t>(row)];
    for (int a = 0; a < 3; ++a) atom->f[i][a] += to_force * force[a];
    if (eflag_atom) eatom[i] += to_energy * output.node_energy[static_cast<std::size_t>(row)];
    if (vflag_atom)
      for (int k = 0; k < 6; ++k)
        vatom[i][k] += to_energy * mlip_dd::symmetric_part(
                                       &output.node_virial[9 * static_cast<std::size_t>(row)], k);
    if (cvflag_atom)
      for (int k = 0; k < 9; ++k)
        cvatom[i][k] +=
            to_energy * centroid[static_cast<std::size_t>(9 * row + mlip_dd::centroid_entry(k))];
  }
}

void PairMlipDD::take_charges()
{
  const mlip_dd::AtomField &made = state_->pipeline->output().fields.at("charges");
  for (int i = 0; i < atom->nlocal; ++i)
    if (const std::int64_t row = state_->host.row(i); row != mlip_dd::kNotInModel)
      atom->q[i] = made.values[static_cast<std::size_t>(row)] / state_->units.charge;
}

void PairMlipDD::take_outputs()
{
  if (state_->options.charges_to_q) take_charges();
  outputs_->take(*state_->pipeline, state_->host, state_->units, atom->nlocal,
                 atom->nlocal + atom->nghost, update->ntimestep);
  extracted_->take(*state_->pipeline);
}

// Ghosts get their owners' values.
void PairMlipDD::forward_outputs()
{
  if (state_->options.charges_to_q) {
    forward_charges();
    // What a kspace style remembers of the charges it was begun with: their sum and self-energy.
    if (force->kspace) force->kspace->qsum_qsq(0);
  }
  for (double *values : outputs_->taken()) forward_values(values);
}

void PairMlipDD::forward_charges() { forward_values(atom->q); }

void PairMlipDD::forward_values(double *values)
{
  travelling_ = values;
  comm->forward_comm(this, 1);
  travelling_ = nullptr;
}

int PairMlipDD::pack_forward_comm(int n, int *list, double *buffer, int, int *)
{
  if (!travelling_) return state_->host.pack_owners(n, list, buffer);
  for (int k = 0; k < n; ++k) buffer[k] = travelling_[list[k]];
  return n;
}

void PairMlipDD::unpack_forward_comm(int n, int first, double *buffer)
{
  if (!travelling_) return state_->host.unpack_owners(n, first, buffer);
  std::copy_n(buffer, n, travelling_ + first);
}

void PairMlipDD::require_finite()
{
  mlip_dd::require_finite_results(*lmp, *state_->pipeline, state_->host, state_->units);
}

}    // namespace LAMMPS_NS
