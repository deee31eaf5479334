#include "potentials/coulomb/lattice_sum_potential.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "base/constants.h"
#include "base/error.h"
#include "graph/device_graph.h"
#include "pipeline/field_rows.h"
#include "pipeline/output_tensors.h"
#include "potentials/coulomb/charge_items.h"
#include "potentials/coulomb/real_space.h"
#include "potentials/coulomb/slab.h"
#include "potentials/pair/native_device.h"
#include "potentials/pair/pair_list.h"
#include "potentials/pair/run_lanes.h"
#include "potentials/thread_count.h"

namespace mlip_dd {

namespace {

// What this rank's atoms add to sums over all.
struct ChargeMoments {
  double charge_squared = 0.0;
  SlabMoments slab;    // the charge, and what a slab needs
};

class LatticeSumPotential final : public Potential {
 public:
  LatticeSumPotential(std::string name, const CoulombParameters &parameters,
                      const PotentialOptions &options, Communicator &communicator,
                      const NativeDevice &device, std::unique_ptr<ReciprocalSum> reciprocal)
      : name_(std::move(name)),
        parameters_(parameters),
        threads_(options.threads),
        communicator_(communicator),
        reciprocal_(std::move(reciprocal)),
        device_(device),
        pairs_(device),
        real_space_(device.lanes ? make_real_space_lanes(device.device)
                                 : make_real_space_sum(options.threads)),
        alpha_(parameters.alpha.value_or(0.0))
  {
    if (parameters.alpha) real_space_->set_parameters(alpha_, parameters.cutoff);
  }

  double cutoff() const override { return parameters_.cutoff; }
  bool uses_edges() const override { return false; }
  bool takes_device_graph(const std::string &device) const override
  {
    return device == device_.used;
  }
  // Each pair is computed by the owner of each of its ends, for its own end.
  bool adds_to_halo_rows() const override { return false; }
  std::vector<std::string> input_fields() const override
  {
    return parameters_.charges.empty() ? std::vector<std::string>{kCharges}
                                       : std::vector<std::string>{};
  }

  void set_plan(const HaloPlan &, HaloMode) override
  {
    pairs_.forget();
    rows_changed_ = true;
  }

  void evaluate(const AtomGraph &graph, const HostStep &step, const PotentialRequest &request,
                PotentialOutput &output) override
  {
    const ThreadCountGuard threads(threads_);
    const std::int64_t n = graph.n_owned;
    const Lattice lattice = lattice_of(step.cell);
    const PairView rows = n > 0 ? pairs_.take(graph, step, /*n_types=*/1) : PairView();
    const at::Tensor charges = charges_of_rows(graph, request);
    if (rows_changed_) real_space_->set_pairs(rows);
    rows_changed_ = false;
    const ChargeTensors atoms{fractional_places(lattice, rows), charges.narrow(0, 0, n)};
    const ChargeMoments own = moments_of(lattice, atoms);
    const SlabMoments moments = sum_over_ranks(own, n);
    plan_if_needed(lattice);

    // Where results are wanted elsewhere, they are gathered here and brought there.
    const OutputTensors results = owned_results(output, n);
    CoulombTensors sums;
    sums.potential = at::zeros({n}, on_device());
    sums.virial = at::zeros({9}, on_device());
    sums.forces = here(results.forces);
    if (request.node_virial) sums.node_virial = here(results.node_virial);
    const double constant = parameters_.coulomb_constant;
    if (n > 0) real_space_->add(rows, charges, constant, sums);
    reciprocal_->add(lattice, atoms, constant, sums);
    add_corrections(lattice, moments, own.slab, atoms, sums, output);

    if (device_.lanes)
      add_energies(atoms, sums, results, output);
    else
      add_energies_on_cpu(spans_of(atoms), spans_of(sums), results, output);
    if (!sums.forces.is_same(results.forces)) bring(sums.forces, results.forces);
    if (request.node_virial && !sums.node_virial.is_same(results.node_virial))
      bring(sums.node_virial, results.node_virial);
    // The energy is quadratic in the charges, so the potential at an atom is dE/dq.
    if (const auto gradient = output.gradients.find(kCharges); gradient != output.gradients.end())
      bring(sums.potential, rows_of(gradient->second).select(1, 0).narrow(0, 0, n));
  }

  Traffic traffic() const override { return reciprocal_->traffic(); }

  std::vector<std::string> description() const override
  {
    std::ostringstream text;
    text << name_ << ": float64 on " << device_.used << ", " << threads_ << " threads"
         << device_.note << ", real-space cutoff " << parameters_.cutoff << " A, accuracy "
         << parameters_.accuracy;
    std::vector<std::string> lines{text.str()};
    if (!planned_) return lines;
    std::ostringstream plan;
    plan << name_ << ": alpha " << alpha_ << " / A; estimated RMS force error, over that of two "
         << "unit charges 1 A apart: real space "
         << real_space_error(totals_, planned_->volume, alpha_, parameters_.cutoff)
         << ", reciprocal " << reciprocal_->error(*planned_, totals_);
    lines.push_back(plan.str());
    for (const std::string &line : reciprocal_->description()) lines.push_back(name_ + ": " + line);
    return lines;
  }

 private:
  Lattice lattice_of(const Cell &cell)
  {
    int open = 0;
    for (int axis = 0; axis < 3; ++axis)
      if (!cell.periodic[static_cast<std::size_t>(axis)]) {
        ++open;
        open_axis_ = axis;
      }
    const std::string found = std::to_string(open) + " non-periodic axes";
    if (!parameters_.slab) {
      if (open != 0)
        throw Error({name_ + " sums over periodic images along all three axes", found,
                     "the simulation box",
                     "Make the box periodic, with empty space around a molecule; or for one open "
                     "axis add \"slab\": 3.0 to /model/parameters"});
      return make_lattice(cell);
    }
    if (open != 1)
      throw Error({"the slab correction is for exactly one non-periodic axis", found,
                   "/model/parameters/slab",
                   "Make one axis non-periodic (in LAMMPS, boundary p p f), or remove \"slab\""});
    const Lattice box = make_lattice(cell);
    // Copies of the slab along the open axis must be out of reach of the real-space sum.
    const double height = box.heights[static_cast<std::size_t>(open_axis_)];
    const double stretch = std::max(*parameters_.slab, 1.0 + parameters_.cutoff / height);
    return make_lattice(cell, open_axis_, stretch);
  }

  at::TensorOptions on_device() const
  {
    return at::TensorOptions().dtype(at::kDouble).device(device_.device);
  }

  // A tensor of results itself where it is on the potential's device, else zeros like it there.
  at::Tensor here(const at::Tensor &results) const
  {
    return results.device() == device_.device ? results : at::zeros(results.sizes(), on_device());
  }

  static void bring(const at::Tensor &values, const at::Tensor &to)
  {
    to.add_(values.to(to.device()));
  }

  // [rows], on the potential's device.
  at::Tensor charges_of_rows(const AtomGraph &graph, const PotentialRequest &request)
  {
    if (parameters_.charges.empty()) {
      at::Tensor rows = rows_of(request.fields->at(kCharges));
      if (rows.requires_grad()) rows = rows.detach();
      if (rows.device() != device_.device) rows = rows.to(device_.device);
      return rows.is_contiguous() ? rows.view({-1}) : rows.reshape({-1});
    }
    if (rows_changed_) {
      const auto on_cpu = [](const auto &values, at::ScalarType type) {
        return at::from_blob(const_cast<void *>(static_cast<const void *>(values.data())),
                             {static_cast<std::int64_t>(values.size())}, type);
      };
      const at::Tensor types =
          graph.device ? graph.device->types : on_cpu(graph.types, at::kInt).to(device_.device);
      element_charges_ =
          on_cpu(parameters_.charges, at::kDouble).to(device_.device).index_select(0, types);
    }
    return element_charges_;
  }

  at::Tensor fractional_places(const Lattice &lattice, const PairView &rows) const
  {
    const at::Tensor places = at::empty({rows.n_owned, 3}, on_device());
    FractionalItems work;
    work.rows = rows;
    std::copy(lattice.origin.begin(), lattice.origin.end(), work.origin);
    set_reciprocal(lattice, work);
    work.fractional = places.mutable_data_ptr<double>();
    run_items(work, rows.n_owned, device_.device);
    return places;
  }

  // Energies and the virial of `sums`; the CPU's by themselves, since operators of tensors take
  // longer than the sums over a few atoms.
  static void add_energies(const ChargeTensors &atoms, const CoulombTensors &sums,
                           const OutputTensors &results, PotentialOutput &output)
  {
    const at::Tensor energies = atoms.charges.mul(sums.potential).mul_(0.5);
    bring(energies, results.node_energy);
    const at::Tensor totals = at::cat({energies.sum().view({1}), sums.virial}).cpu();
    const double *total = totals.const_data_ptr<double>();
    output.energy += total[0];
    for (std::size_t k = 0; k < 9; ++k) output.virial[k] += total[1 + k];
  }

  static void add_energies_on_cpu(const OwnedCharges &atoms, const CoulombSums &sums,
                                  const OutputTensors &results, PotentialOutput &output)
  {
    auto *node_energy = results.node_energy.mutable_data_ptr<double>();
    for (std::size_t i = 0; i < atoms.charges.size(); ++i) {
      const double energy = 0.5 * atoms.charges[i] * sums.potential[i];
      node_energy[i] += energy;
      output.energy += energy;
    }
    for (std::size_t k = 0; k < 9; ++k) output.virial[k] += sums.virial[k];
  }

  ChargeMoments moments_on_cpu(const Lattice &lattice, const OwnedCharges &atoms) const
  {
    const auto axis = static_cast<std::size_t>(open_axis_);
    ChargeMoments moments;
    for (std::size_t i = 0; i < atoms.charges.size(); ++i) {
      const double charge = atoms.charges[i];
      const double z = lattice.heights[axis] * atoms.fractional[3 * i + axis];
      moments.charge_squared += charge * charge;
      moments.slab.charge += charge;
      moments.slab.first += charge * z;
      moments.slab.second += charge * z * z;
    }
    return moments;
  }

  ChargeMoments moments_of(const Lattice &lattice, const ChargeTensors &atoms) const
  {
    if (!device_.lanes) return moments_on_cpu(lattice, spans_of(atoms));
    const at::Tensor &charges = atoms.charges;
    std::vector<at::Tensor> sums{charges.sum(), charges.mul(charges).sum()};
    if (parameters_.slab) {
      const at::Tensor heights = atoms.fractional.select(1, open_axis_)
                                     .mul(lattice.heights[static_cast<std::size_t>(open_axis_)]);
      const at::Tensor dipoles = charges.mul(heights);
      sums.push_back(dipoles.sum());
      sums.push_back(dipoles.mul(heights).sum());
    }
    const at::Tensor on_host = at::stack(sums).cpu();
    const double *found = on_host.const_data_ptr<double>();
    if (!parameters_.slab) return {found[1], {found[0], 0.0, 0.0}};
    return {found[1], {found[0], found[2], found[3]}};
  }

  // Collective. The totals of the system, and its moments where a slab needs them.
  SlabMoments sum_over_ranks(const ChargeMoments &own, std::int64_t n)
  {
    std::array<double, 5> values{own.slab.charge, own.charge_squared, static_cast<double>(n),
                                 own.slab.first, own.slab.second};
    communicator_.sum(values);
    totals_ = {values[0], values[1], values[2]};
    return {values[0], values[3], values[4]};
  }

  // All ranks decide alike: lattice and totals have the same bits everywhere.
  void plan_if_needed(const Lattice &lattice)
  {
    const double accuracy = parameters_.accuracy, cutoff = parameters_.cutoff;
    bool stale = !planned_ || relative_change(*planned_, lattice) > ReciprocalSum::kPlannedChange ||
                 std::abs(totals_.charge_squared - planned_charge_squared_) >
                     kChargeChange * planned_charge_squared_;
    if (!parameters_.alpha &&
        (!planned_ ||
         (stale && real_space_error(totals_, lattice.volume, alpha_, cutoff) > accuracy))) {
      alpha_ = choose_alpha(totals_, lattice.volume, cutoff, accuracy);
      real_space_->set_parameters(alpha_, cutoff);
      stale = true;
    }
    if (!stale) return;
    reciprocal_->plan(lattice, totals_, alpha_);
    planned_ = lattice;
    planned_charge_squared_ = totals_.charge_squared;
  }

  // The reciprocal sum counts each charge's screening cloud with itself; a net charge stands in a
  // uniform background of the opposite one, whose energy goes as 1 / V.
  void add_corrections(const Lattice &lattice, const SlabMoments &moments, const SlabMoments &own,
                       const ChargeTensors &atoms, const CoulombTensors &sums,
                       PotentialOutput &output) const
  {
    const double constant = parameters_.coulomb_constant;
    CorrectionItems work;
    work.self = -2.0 * constant * alpha_ / std::sqrt(kPi);
    work.background = -constant * kPi * totals_.charge / (alpha_ * alpha_ * lattice.volume);
    for (std::size_t a = 0; a < 3; ++a) output.virial[4 * a] += 0.5 * own.charge * work.background;
    if (parameters_.slab) {
      work.with_slab = true;
      work.slab = slab_terms(lattice, open_axis_, moments, constant);
      const double energy = slab_energy(work.slab, own);
      for (int b = 0; b < 3; ++b)
        for (int c = 0; c < 3; ++c)
          output.virial[static_cast<std::size_t>(3 * b + c)] += work.slab.virial(energy, b, c);
    }
    work.fractional = atoms.fractional.const_data_ptr<double>();
    work.charges = atoms.charges.const_data_ptr<double>();
    work.potential = sums.potential.mutable_data_ptr<double>();
    work.forces = sums.forces.mutable_data_ptr<double>();
    if (sums.node_virial.defined()) work.node_virial = sums.node_virial.mutable_data_ptr<double>();
    run_items(work, atoms.count(), device_.device);
  }

  static constexpr const char *kCharges = "charges";
  // Of the sum of squared charges, before wave vectors or mesh are chosen anew.
  static constexpr double kChargeChange = 0.1;

  std::string name_;
  CoulombParameters parameters_;
  int threads_;
  Communicator &communicator_;
  std::unique_ptr<ReciprocalSum> reciprocal_;
  NativeDevice device_;
  PairList pairs_;
  std::unique_ptr<RealSpaceSum> real_space_;
  double alpha_;
  bool rows_changed_ = true;
  int open_axis_ = 0;
  ChargeTotals totals_;
  std::optional<Lattice> planned_;
  double planned_charge_squared_ = 0.0;
  at::Tensor element_charges_;    // of all rows, where elements have them
};

}    // namespace

std::unique_ptr<Potential> make_lattice_sum_potential(std::string name, const ModelSpec &model,
                                                      const CoulombParameters &parameters,
                                                      const PotentialOptions &options,
                                                      Communicator &communicator,
                                                      const NativeDevice &device,
                                                      std::unique_ptr<ReciprocalSum> reciprocal)
{
  if (model.units != "metal")
    throw Error({name + " computes in eV and Angstrom", "\"" + model.units + "\"", "/model/units",
                 "Remove the key or write \"metal\""});
  if (!model.dtype.empty() && model.dtype != "float64")
    throw Error({name + " computes in float64", "\"" + model.dtype + "\"", "/model/dtype",
                 "Remove the key"});
  return std::make_unique<LatticeSumPotential>(std::move(name), parameters, options, communicator,
                                               device, std::move(reciprocal));
}

}    // namespace mlip_dd
