#include "potentials/coulomb/lattice_sum_potential.h"

#include <cmath>
#include <optional>
#include <sstream>

#include "base/constants.h"
#include "base/error.h"
#include "potentials/coulomb/real_space.h"
#include "potentials/coulomb/slab.h"
#include "potentials/pair/native_device.h"
#include "potentials/thread_count.h"

namespace mlip_dd {

namespace {

class LatticeSumPotential final : public Potential {
 public:
  LatticeSumPotential(std::string name, const CoulombParameters &parameters,
                      const PotentialOptions &options, Communicator &communicator, int local_rank,
                      std::unique_ptr<ReciprocalSum> reciprocal)
      : name_(std::move(name)),
        parameters_(parameters),
        options_(options),
        communicator_(communicator),
        reciprocal_(std::move(reciprocal)),
        device_(native_device(options, local_rank)),
        real_space_(device_.gpu, options.threads),
        alpha_(parameters.alpha.value_or(0.0))
  {
    if (parameters.alpha) real_space_.set_parameters(alpha_, parameters.cutoff);
  }

  double cutoff() const override { return parameters_.cutoff; }
  bool uses_edges() const override { return false; }
  // Each pair is computed by the owner of each of its ends, for its own end.
  bool adds_to_halo_rows() const override { return false; }
  std::vector<std::string> input_fields() const override
  {
    return parameters_.charges.empty() ? std::vector<std::string>{kCharges}
                                       : std::vector<std::string>{};
  }

  void set_plan(const HaloPlan &, HaloMode) override { rows_changed_ = true; }

  void evaluate(const AtomGraph &graph, const HostStep &step, const PotentialRequest &request,
                PotentialOutput &output) override
  {
    const ThreadCountGuard threads(options_.threads);
    if (rows_changed_) {
      real_space_.set_candidates(graph);
      rows_changed_ = false;
    }
    const Lattice lattice = lattice_of(step.cell);
    read_charges(graph, request);
    read_fractional(graph, step, lattice);
    const auto n = static_cast<std::size_t>(graph.n_owned);
    const OwnedCharges atoms{fractional_, std::span(charges_).first(n)};
    const SlabMoments moments = sum_over_ranks(lattice, atoms);
    plan_if_needed(lattice);

    potential_.assign(n, 0.0);
    CoulombSums sums;
    sums.potential = potential_;
    sums.forces = std::span(output.forces).first(3 * n);
    sums.wants_node_virial = request.node_virial;
    if (request.node_virial) sums.node_virial = std::span(output.node_virial).first(9 * n);
    sums.virial = &output.virial;
    const double constant = parameters_.coulomb_constant;
    real_space_.add(step.positions, charges_, constant, sums);
    reciprocal_->add(lattice, atoms, constant, sums);
    add_self_and_background(lattice, atoms, sums);
    if (parameters_.slab) add_slab_correction(lattice, open_axis_, moments, atoms, constant, sums);

    for (std::size_t i = 0; i < n; ++i) {
      const double energy = 0.5 * charges_[i] * potential_[i];
      output.node_energy[i] += energy;
      output.energy += energy;
    }
    // The energy is quadratic in the charges, so the potential at an atom is dE/dq.
    if (const auto gradient = output.gradients.find(kCharges); gradient != output.gradients.end())
      for (std::size_t i = 0; i < n; ++i) gradient->second.values[i] += potential_[i];
  }

  Traffic traffic() const override { return reciprocal_->traffic(); }

  std::vector<std::string> description() const override
  {
    std::ostringstream text;
    text << name_ << ": float64 on " << device_.used << ", " << options_.threads << " threads"
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

  void read_charges(const AtomGraph &graph, const PotentialRequest &request)
  {
    if (parameters_.charges.empty()) {
      charges_ = request.fields->at(kCharges).values;
      return;
    }
    charges_.resize(static_cast<std::size_t>(graph.n_rows()));
    for (std::size_t row = 0; row < charges_.size(); ++row)
      charges_[row] = parameters_.charges[static_cast<std::size_t>(graph.types[row])];
  }

  void read_fractional(const AtomGraph &graph, const HostStep &step, const Lattice &lattice)
  {
    fractional_.resize(3 * graph.owned_atoms.size());
    for (std::size_t i = 0; i < graph.owned_atoms.size(); ++i) {
      const Vector3 f =
          lattice.fractional(&step.positions[3 * static_cast<std::size_t>(graph.owned_atoms[i])]);
      std::copy(f.begin(), f.end(), fractional_.begin() + static_cast<std::ptrdiff_t>(3 * i));
    }
  }

  // Collective. The totals of the system, and its moments where a slab needs them.
  SlabMoments sum_over_ranks(const Lattice &lattice, const OwnedCharges &atoms)
  {
    SlabMoments moments;
    if (parameters_.slab) moments = slab_moments(lattice, open_axis_, atoms);
    std::array<double, 5> values{0.0, 0.0, static_cast<double>(atoms.count()), moments.first,
                                 moments.second};
    for (const double charge : atoms.charges) {
      values[0] += charge;
      values[1] += charge * charge;
    }
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
      real_space_.set_parameters(alpha_, cutoff);
      stale = true;
    }
    if (!stale) return;
    reciprocal_->plan(lattice, totals_, alpha_);
    planned_ = lattice;
    planned_charge_squared_ = totals_.charge_squared;
  }

  // The reciprocal sum counts each charge's screening cloud with itself; a net charge stands in a
  // uniform background of the opposite one, whose energy goes as 1 / V.
  void add_self_and_background(const Lattice &lattice, const OwnedCharges &atoms,
                               const CoulombSums &sums) const
  {
    const double constant = parameters_.coulomb_constant;
    const double self = -2.0 * constant * alpha_ / std::sqrt(kPi);
    const double background = -constant * kPi * totals_.charge / (alpha_ * alpha_ * lattice.volume);
    for (std::size_t i = 0; i < atoms.charges.size(); ++i) {
      sums.potential[i] += self * atoms.charges[i] + background;
      const double energy = 0.5 * atoms.charges[i] * background;
      for (std::size_t a = 0; a < 3; ++a) {
        (*sums.virial)[4 * a] += energy;
        if (!sums.node_virial.empty()) sums.node_virial[9 * i + 4 * a] += energy;
      }
    }
  }

  static constexpr const char *kCharges = "charges";
  // Of the sum of squared charges, before wave vectors or mesh are chosen anew.
  static constexpr double kChargeChange = 0.1;

  std::string name_;
  CoulombParameters parameters_;
  PotentialOptions options_;
  Communicator &communicator_;
  std::unique_ptr<ReciprocalSum> reciprocal_;
  NativeDevice device_;
  RealSpaceSum real_space_;
  double alpha_;
  bool rows_changed_ = true;
  int open_axis_ = 0;
  ChargeTotals totals_;
  std::optional<Lattice> planned_;
  double planned_charge_squared_ = 0.0;
  std::vector<double> charges_;       // of all rows
  std::vector<double> fractional_;    // [n_owned, 3]
  std::vector<double> potential_;     // [n_owned]
};

}    // namespace

std::unique_ptr<Potential> make_lattice_sum_potential(std::string name, const ModelSpec &model,
                                                      const CoulombParameters &parameters,
                                                      const PotentialOptions &options,
                                                      Communicator &communicator, int local_rank,
                                                      std::unique_ptr<ReciprocalSum> reciprocal)
{
  if (model.units != "metal")
    throw Error({name + " computes in eV and Angstrom", "\"" + model.units + "\"", "/model/units",
                 "Remove the key or write \"metal\""});
  if (!model.dtype.empty() && model.dtype != "float64")
    throw Error({name + " computes in float64", "\"" + model.dtype + "\"", "/model/dtype",
                 "Remove the key"});
  return std::make_unique<LatticeSumPotential>(std::move(name), parameters, options, communicator,
                                               local_rank, std::move(reciprocal));
}

}    // namespace mlip_dd
