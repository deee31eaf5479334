#include "potentials/pme/particle_mesh.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <sstream>

#include "base/constants.h"
#include "potentials/pme/mesh_patch.h"
#include "potentials/pme/mesh_transform.h"
#include "potentials/pme/mesh_waves.h"
#include "potentials/pme/spread.h"
#ifdef MLIP_DD_WITH_CUDA
#include "potentials/pme/gpu_spread.h"
#endif

namespace mlip_dd {

namespace {

std::unique_ptr<SplineCharges> make_charges([[maybe_unused]] int gpu, int threads)
{
#ifdef MLIP_DD_WITH_CUDA
  if (gpu >= 0) return make_gpu_spline_charges(gpu);
#endif
  return make_spline_charges(threads);
}

class ParticleMesh final : public ReciprocalSum {
 public:
  ParticleMesh(const MeshParameters &parameters, double accuracy, Communicator &communicator,
               int gpu, int threads)
      : parameters_(parameters),
        accuracy_(accuracy),
        communicator_(communicator),
        gpu_(gpu),
        charges_(make_charges(gpu, threads))
  {}

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
    if (transform_ && mesh == mesh_) return;
    mesh_ = mesh;
    if (transform_) past_ += transform_->traffic();
    distributed_ = communicator_.size() > 1 && parameters_.sharing == MeshSharing::distributed;
    transform_ = make_mesh_transform(mesh, parameters_.sharing, communicator_, gpu_);
    waves_.set_mesh(mesh, parameters_.order);
    patch_planned_ = false;
  }

  void add(const Lattice &lattice, const OwnedCharges &atoms, double constant,
           const CoulombSums &sums) override
  {
    plan_patch_if_needed(atoms);
    charges_->place(mesh_, parameters_.order, patch_, atoms.fractional);
    values_.resize(static_cast<std::size_t>(patch_.box().points()));
    charges_->spread(atoms.charges, values_);
    waves_.set_lattice(lattice, alpha_, transform_->waves(), transform_->blocks());
    if (sums.wants_node_virial) factors_.resize(static_cast<std::size_t>(transform_->waves()));
    convolve([&](const WaveBlock &block) {
      waves_.multiply(block, constant);
      if (sums.wants_node_virial)
        std::copy(block.values.begin(), block.values.end(), factors_.begin() + block.first);
    });
    const std::array<double, 9> virial = waves_.take_virial();
    // Every rank has all waves of a replicated mesh.
    if (distributed_ || communicator_.rank() == 0)
      for (std::size_t c = 0; c < 9; ++c) (*sums.virial)[c] += virial[c];
    const auto n = static_cast<std::size_t>(atoms.count());
    at_atoms_.resize(n);
    gradients_.resize(3 * n);
    charges_->interpolate(values_, at_atoms_, gradients_);
    for (std::size_t i = 0; i < n; ++i) {
      sums.potential[i] += at_atoms_[i];
      for (std::size_t b = 0; b < 3; ++b) {
        double gradient = 0.0;
        for (std::size_t a = 0; a < 3; ++a)
          gradient += gradients_[3 * i + a] * lattice.reciprocal[a][b] / (2.0 * kPi);
        sums.forces[3 * i + b] -= atoms.charges[i] * gradient;
      }
    }
    if (sums.wants_node_virial) add_node_virial(atoms, sums);
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
    std::vector<std::string> lines{text.str(), transform_->description()};
    if (distributed_)
      lines.push_back("patch of this rank's charges: " + std::to_string(patch_.box().count[0]) +
                      " x " + std::to_string(patch_.box().count[1]) + " x " +
                      std::to_string(patch_.box().count[2]) +
                      " points, sent twice in each evaluation");
    return lines;
  }

 private:
  // Collective. The patch follows the charges; it is kept while all of them are inside.
  void plan_patch_if_needed(const OwnedCharges &atoms)
  {
    if (!distributed_) {
      if (!patch_planned_) patch_.cover(mesh_);
      patch_planned_ = true;
      return;
    }
    std::array<std::int64_t, 1> stale{!patch_planned_ ||
                                      !patch_.holds(mesh_, parameters_.order, atoms.fractional)};
    communicator_.max(stale);
    if (!stale[0]) return;
    patch_.fit(mesh_, parameters_.order, kMargin, atoms.fractional);
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

  // Collective. values_ (the patch) as MeshTransform::convolve().
  void convolve(const WaveWork &work)
  {
    if (!distributed_) return transform_->convolve(values_, work);
    block_.assign(static_cast<std::size_t>(transform_->points().points()), 0.0);
    to_blocks_.add(communicator_, 1, values_, block_, past_);
    transform_->convolve(block_, work);
    to_blocks_.give_back(communicator_, 1, block_, values_, past_);
  }

  // Collective. What `work` leaves -> values_ (the patch).
  void to_points(const WaveWork &work)
  {
    if (!distributed_) return transform_->backward(work, values_);
    transform_->backward(work, block_);
    to_blocks_.give_back(communicator_, 1, block_, values_, past_);
  }

  // Collective: six more transforms.
  void add_node_virial(const OwnedCharges &atoms, const CoulombSums &sums)
  {
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = a; b < 3; ++b) {
        to_points([&](const WaveBlock &block) { waves_.strain(block, factors_, a, b); });
        charges_->interpolate(values_, at_atoms_, {});
        for (std::size_t i = 0; i < at_atoms_.size(); ++i) {
          const double value = 0.5 * atoms.charges[i] * at_atoms_[i];
          sums.node_virial[9 * i + 3 * a + b] += value;
          if (a != b) sums.node_virial[9 * i + 3 * b + a] += value;
        }
      }
  }

  // Mesh points by which charges may move before the patch is planned anew.
  static constexpr int kMargin = 2;

  MeshParameters parameters_;
  double accuracy_;
  Communicator &communicator_;
  int gpu_;
  double alpha_ = 0.0;
  MeshSize mesh_{};
  bool distributed_ = false;
  std::unique_ptr<MeshTransform> transform_;
  bool patch_planned_ = false;
  MeshPatch patch_;
  BoxExchange to_blocks_;
  std::unique_ptr<SplineCharges> charges_;
  MeshWaves waves_;
  Traffic past_;    // of exchanges of patches, and of transforms made before
  // Work space, kept between evaluations.
  std::vector<double> values_, block_, at_atoms_, gradients_;
  std::vector<std::complex<double>> factors_;    // of all waves
};

}    // namespace

std::unique_ptr<ReciprocalSum> make_particle_mesh(const MeshParameters &parameters, double accuracy,
                                                  Communicator &communicator, int gpu, int threads)
{
  return std::make_unique<ParticleMesh>(parameters, accuracy, communicator, gpu, threads);
}

}    // namespace mlip_dd
