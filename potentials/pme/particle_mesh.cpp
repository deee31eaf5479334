#include "potentials/pme/particle_mesh.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <sstream>

#include "base/constants.h"
#include "potentials/pair/run_lanes.h"
#include "potentials/pme/mesh_convolution.h"
#include "potentials/pme/mesh_items.h"
#include "potentials/pme/mesh_patch.h"
#include "potentials/pme/mesh_transform.h"
#include "potentials/pme/mesh_waves.h"
#include "potentials/pme/spread.h"

namespace mlip_dd {

namespace {

class ParticleMesh final : public ReciprocalSum {
 public:
  ParticleMesh(const MeshParameters &parameters, double accuracy, Communicator &communicator,
               const NativeDevice &device, int threads)
      : parameters_(parameters),
        accuracy_(accuracy),
        communicator_(communicator),
        device_(device),
        charges_(device.lanes ? make_spline_lanes(device.device) : make_spline_charges(threads))
  {
    if (device.lanes && communicator.size() == 1) whole_.emplace(device.device);
  }

  void plan(const Lattice &lattice, const ChargeTotals &totals, double alpha) override
  {
    alpha_ = alpha;
    MeshSize mesh{};
    if (parameters_.mesh) {
      mesh = *parameters_.mesh;
    } else {
      // As fine as needed when the cell has grown by what is allowed before the next plan.
      Lattice grown = lattice;
      for (Vector3 &vector : grown.vectors)
        for (double &component : vector) component *= 1.0 + kPlannedChange;
      for (Vector3 &vector : grown.reciprocal)
        for (double &component : vector) component /= 1.0 + kPlannedChange;
      mesh = choose_mesh(grown, totals, alpha, parameters_.order, accuracy_);
    }
    if (mesh == mesh_) return;
    mesh_ = mesh;
    patch_planned_ = false;
    if (whole_) return whole_->set_mesh(mesh, parameters_.order);
    if (transform_) past_ += transform_->traffic();
    distributed_ = communicator_.size() > 1 && parameters_.sharing == MeshSharing::distributed;
    transform_ = make_mesh_transform(mesh, parameters_.sharing, communicator_, device_.gpu);
    waves_.set_mesh(mesh, parameters_.order);
  }

  void add(const Lattice &lattice, const ChargeTensors &atoms, double constant,
           const CoulombTensors &sums) override
  {
    const std::int64_t n = atoms.count();
    const at::TensorOptions options = atoms.charges.options();
    plan_patch_if_needed(atoms);
    charges_->place(mesh_, parameters_.order, patch_, atoms.fractional);
    if (!values_.defined() || values_.numel() != patch_.box().points())
      values_ = at::empty({patch_.box().points()}, options);
    charges_->spread(atoms.charges, values_);
    if (whole_)
      whole_->convolve(lattice, alpha_, constant, values_, sums.virial);
    else
      convolve_on_cpu(lattice, constant, sums);

    const at::Tensor at_atoms = at::empty({n}, options), gradients = at::empty({n, 3}, options);
    charges_->interpolate(values_, at_atoms, gradients);
    MeshResultItems results;
    set_reciprocal(lattice, results);
    results.charges = atoms.charges.const_data_ptr<double>();
    results.values = at_atoms.const_data_ptr<double>();
    results.gradients = gradients.const_data_ptr<double>();
    results.potential = sums.potential.mutable_data_ptr<double>();
    results.forces = sums.forces.mutable_data_ptr<double>();
    run_items(results, n, device_.device);
    if (sums.node_virial.defined()) add_node_virial(atoms, at_atoms, sums);
  }

  double error(const Lattice &lattice, const ChargeTotals &totals) const override
  {
    return mesh_error(lattice, totals, alpha_, mesh_, parameters_.order);
  }

  Traffic traffic() const override
  {
    Traffic total = past_;
    if (transform_) total += transform_->traffic();
    return total;
  }

  std::vector<std::string> description() const override
  {
    std::ostringstream text;
    text << "mesh " << mesh_[0] << " x " << mesh_[1] << " x " << mesh_[2] << ", spline order "
         << parameters_.order;
    std::vector<std::string> lines{
        text.str(), whole_ ? "one transform on " + device_.used : transform_->description()};
    if (distributed_)
      lines.push_back("patch of this rank's charges: " + std::to_string(patch_.box().count[0]) +
                      " x " + std::to_string(patch_.box().count[1]) + " x " +
                      std::to_string(patch_.box().count[2]) +
                      " points, sent twice in each evaluation");
    return lines;
  }

 private:
  // Collective. The patch follows the charges; it is kept while all of them are inside.
  void plan_patch_if_needed(const ChargeTensors &atoms)
  {
    if (!distributed_) {
      if (!patch_planned_) patch_.cover(mesh_);
      patch_planned_ = true;
      return;
    }
    const at::Tensor marks = marks_of(atoms);
    const std::span marked(marks.const_data_ptr<std::uint8_t>(),
                           static_cast<std::size_t>(marks.numel()));
    std::array<std::int64_t, 1> stale{!patch_planned_ ||
                                      !patch_.holds(mesh_, parameters_.order, marked)};
    communicator_.max(stale);
    if (!stale[0]) return;
    patch_.fit(mesh_, parameters_.order, kMargin, marked);
    std::vector<RankBox> blocks;
    std::vector<Parcel> parcels;
    const MeshBox &box = patch_.box();
    for (int rank = 0; rank < communicator_.size() && box.points() > 0; ++rank) {
      const MeshBox block = transform_->points_of(rank);
      if (block.points() == 0 || !overlap(box, block)) continue;
      blocks.push_back({rank, block});
      Parcel parcel{rank, {}};
      for (std::size_t a = 0; a < 3; ++a) {
        parcel.values.push_back(box.start[a]);
        parcel.values.push_back(box.count[a]);
      }
      parcels.push_back(std::move(parcel));
    }
    std::vector<RankBox> patches;
    for (const Parcel &parcel : communicator_.deliver(parcels)) {
      RankBox other{parcel.rank, {}};
      for (std::size_t a = 0; a < 3; ++a) {
        other.box.start[a] = static_cast<int>(parcel.values[2 * a]);
        other.box.count[a] = static_cast<int>(parcel.values[2 * a + 1]);
      }
      patches.push_back(other);
    }
    to_blocks_ =
        BoxExchange(communicator_.rank(), mesh_, box, blocks, transform_->points(), patches);
    patch_planned_ = true;
  }

  bool overlap(const MeshBox &patch, const MeshBox &block) const
  {
    for (std::size_t a = 0; a < 3; ++a) {
      bool shared = false;
      for (int p = 0; p < block.count[a]; ++p)
        shared = shared || patch_.places(a)[static_cast<std::size_t>(block.start[a] + p)] >= 0;
      if (!shared) return false;
    }
    return patch.points() > 0;
  }

  // On the CPU: as MarkItems gives them.
  at::Tensor marks_of(const ChargeTensors &atoms) const
  {
    const at::Tensor marks =
        at::zeros({mesh_[0] + mesh_[1] + mesh_[2]}, atoms.charges.options().dtype(at::kByte));
    MarkItems work;
    std::copy(mesh_.begin(), mesh_.end(), work.mesh);
    work.fractional = atoms.fractional.const_data_ptr<double>();
    work.marks = marks.mutable_data_ptr<std::uint8_t>();
    run_items(work, atoms.count(), device_.device);
    return marks.cpu();
  }

  // Collective. Calls work(patch) with the patch on the CPU, which is what ranks exchange: values_,
  // or room for new ones.
  template <class Work>
  void with_patch_on_cpu(bool room, const Work &work)
  {
    const at::Tensor patch = room && !values_.is_cpu() ? at::empty(values_.sizes(), at::kDouble)
                                                       : values_.cpu();    // itself, if it is there
    work(std::span(patch.mutable_data_ptr<double>(), static_cast<std::size_t>(patch.numel())));
    if (!patch.is_same(values_)) values_.copy_(patch);
  }

  // Collective. values_ become potentials; adds to the virial.
  void convolve_on_cpu(const Lattice &lattice, double constant, const CoulombTensors &sums)
  {
    const bool keep = sums.node_virial.defined();
    waves_.set_lattice(lattice, alpha_, transform_->waves(), transform_->blocks());
    if (keep) factors_.resize(static_cast<std::size_t>(transform_->waves()));
    const WaveWork work = [&](const WaveBlock &block) {
      waves_.multiply(block, constant);
      if (keep) std::copy(block.values.begin(), block.values.end(), factors_.begin() + block.first);
    };
    with_patch_on_cpu(/*room=*/false, [&](std::span<double> patch) {
      if (!distributed_) return transform_->convolve(patch, work);
      block_.assign(static_cast<std::size_t>(transform_->points().points()), 0.0);
      to_blocks_.add(communicator_, 1, patch, block_, past_);
      transform_->convolve(block_, work);
      to_blocks_.give_back(communicator_, 1, block_, patch, past_);
    });
    std::array<double, 9> virial = waves_.take_virial();
    // Every rank has all waves of a replicated mesh.
    if (!distributed_ && communicator_.rank() != 0) return;
    if (sums.virial.is_cpu()) {
      auto *to = sums.virial.mutable_data_ptr<double>();
      for (std::size_t c = 0; c < 9; ++c) to[c] += virial[c];
    } else {
      sums.virial.add_(at::from_blob(virial.data(), {9}, at::kDouble).to(device_.device));
    }
  }

  // Collective. values_ become component ab of the potentials' strain.
  void strain_on_cpu(std::size_t a, std::size_t b)
  {
    const WaveWork work = [&](const WaveBlock &block) { waves_.strain(block, factors_, a, b); };
    with_patch_on_cpu(/*room=*/true, [&](std::span<double> patch) {
      if (!distributed_) return transform_->backward(work, patch);
      transform_->backward(work, block_);
      to_blocks_.give_back(communicator_, 1, block_, patch, past_);
    });
  }

  // Collective: six more transforms.
  void add_node_virial(const ChargeTensors &atoms, const at::Tensor &at_atoms,
                       const CoulombTensors &sums)
  {
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = a; b < 3; ++b) {
        if (whole_)
          whole_->strain(static_cast<int>(a), static_cast<int>(b), values_);
        else
          strain_on_cpu(a, b);
        charges_->interpolate(values_, at_atoms, {});
        const at::Tensor virials = atoms.charges.mul(at_atoms).mul_(0.5);
        const auto component = [&](std::size_t c) {
          return sums.node_virial.select(1, static_cast<std::int64_t>(c));
        };
        component(3 * a + b).add_(virials);
        if (a != b) component(3 * b + a).add_(virials);
      }
  }

  // Mesh points by which charges may move before the patch is planned anew.
  static constexpr int kMargin = 2;

  MeshParameters parameters_;
  double accuracy_;
  Communicator &communicator_;
  NativeDevice device_;
  double alpha_ = 0.0;
  MeshSize mesh_{};
  bool distributed_ = false;
  std::unique_ptr<MeshTransform> transform_;
  bool patch_planned_ = false;
  MeshPatch patch_;
  BoxExchange to_blocks_;
  std::unique_ptr<SplineCharges> charges_;
  std::optional<MeshConvolution> whole_;    // by lanes on one rank, instead of transform_, waves_
  MeshWaves waves_;
  Traffic past_;    // of exchanges of patches, and of transforms made before
  // Work space, kept between evaluations.
  at::Tensor values_;    // of the patch
  std::vector<double> block_;
  std::vector<std::complex<double>> factors_;    // of all waves
};

}    // namespace

std::unique_ptr<ReciprocalSum> make_particle_mesh(const MeshParameters &parameters, double accuracy,
                                                  Communicator &communicator,
                                                  const NativeDevice &device, int threads)
{
  return std::make_unique<ParticleMesh>(parameters, accuracy, communicator, device, threads);
}

}    // namespace mlip_dd
