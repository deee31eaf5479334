#include "potentials/dftd3/d3_potential.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <variant>

#include "halo/halo_exchange.h"
#include "halo/row_arrays.h"
#include "potentials/dftd3/d3_kernel.h"
#ifdef MLIP_DD_WITH_CUDA
#include "potentials/dftd3/d3_gpu.h"
#endif
#include "potentials/dftd3/d3_model.h"
#include "potentials/dftd3/d3_three_body.h"
#include "potentials/pair/lane_results.h"
#include "potentials/pair/native_device.h"
#include "potentials/pair/row_blocks.h"

namespace mlip_dd {

namespace {

class D3Potential final : public Potential {
 public:
  D3Potential(const ModelSpec &model, const PotentialOptions &options, Communicator &communicator,
              int local_rank)
      : parameters_(read_d3_parameters(model)),
        exchange_(communicator),
        threads_(options.threads),
        device_(native_device(options, local_rank))
  {
    const D3Reference reference = read_d3_reference(parameters_.reference, model.elements);
    source_ = reference.source;
    model_ = make_d3_model(parameters_, reference);
#ifdef MLIP_DD_WITH_CUDA
    if (device_.gpu >= 0) gpu_.emplace(device_.gpu, model_);
#endif
  }

  double cutoff() const override
  {
    return std::max({model_.cutoff, model_.cn_cutoff, model_.three_body_cutoff});
  }

  // A wide halo's extra rows are not used: halo rows are exchanged in any mode.
  void set_plan(const HaloPlan &plan, HaloMode) override
  {
    exchange_.set_plan(plan);
    current_ = false;
  }

  bool uses_edges() const override { return false; }
  // Each pair is computed by the owner of each of its ends, for its own end.
  bool adds_to_halo_rows() const override { return false; }
  std::string flux_caveat() const override
  {
    return "coefficients of DFT-D3 depend on the neighbours of both atoms";
  }

  void evaluate(const AtomGraph &graph, const HostStep &step, const PotentialRequest &request,
                PotentialOutput &output) override
  {
    // A rank without atoms shares no rows with anyone.
    if (graph.n_owned == 0) return;
    if (!current_) set_rows(rows_, graph, model_.n_types);
    [[maybe_unused]] const bool new_rows = !current_;
    current_ = true;
    set_positions(rows_, step.positions);
#ifdef MLIP_DD_WITH_CUDA
    if (gpu_) gpu_->take(rows_, new_rows);
#endif
    const D3Sums sums{output.node_energy.data(), output.forces.data(),
                      request.node_virial ? output.node_virial.data() : nullptr};

    per_row_.assign(static_cast<std::size_t>(graph.n_owned), 0.0);
    count();
    gather_array(exchange_, per_row_, 1);
    weights_.resize(per_row_.size());
    for (std::size_t row = 0; row < per_row_.size(); ++row)
      weights_[row] = d3_weights(model_, rows_.types[row], per_row_[row]);

    per_row_.assign(static_cast<std::size_t>(graph.n_owned), 0.0);
    add_pairs(sums, request.node_virial, output);
    if (parameters_.s9 > 0.0) add_triples(sums, request.node_virial, output);
    gather_array(exchange_, per_row_, 1);
    add_forces_of_counting(sums, request.node_virial, output);
  }

  Traffic traffic() const override { return exchange_.traffic(); }

  std::vector<std::string> description() const override
  {
    std::ostringstream text;
    text << "potential dftd3: " << model_.n_types << " elements, "
         << (model_.zero_damping ? "zero" : "Becke-Johnson") << " damping, ";
    if (!parameters_.functional.empty()) text << parameters_.functional << ": ";
    std::visit([&](const auto &damping) { write(text, damping); }, parameters_.damping);
    text << ", cutoff " << model_.cutoff << " A, neighbours counted within " << model_.cn_cutoff
         << " A";
    if (model_.switch_width > 0.0)
      text << ", switched to zero over the last " << model_.switch_width << " A";
    if (parameters_.s9 > 0.0)
      text << ", three-body term with s9 " << parameters_.s9 << " within "
           << model_.three_body_cutoff << " A";
    text << ", float64 on " << device_.used << ", " << threads_ << " threads" << device_.note;
    return {text.str(), "dftd3 reference values: " + source_};
  }

 private:
  static void write(std::ostream &text, const D3BeckeJohnson &damping)
  {
    text << "s6 " << damping.s6 << " s8 " << damping.s8 << " a1 " << damping.a1 << " a2 "
         << damping.a2 << " Bohr";
  }
  static void write(std::ostream &text, const D3Zero &damping)
  {
    text << "s6 " << damping.s6 << " s8 " << damping.s8 << " sr6 " << damping.sr6 << " sr8 "
         << damping.sr8;
  }

  // blocks_ becomes what work(begin, end) gives for each block of rows.
  template <class Work>
  void for_each_block_of_rows(const Work &work)
  {
    blocks_.resize(static_cast<std::size_t>(count_blocks(rows_.n_owned)));
    for_each_block(rows_.n_owned, threads_,
                   [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
                     blocks_[static_cast<std::size_t>(block)] = work(begin, end);
                   });
  }

  // per_row_ becomes the coordination numbers of owned atoms.
  void count()
  {
#ifdef MLIP_DD_WITH_CUDA
    if (gpu_) {
      const std::vector<LaneSums> &found = gpu_->count_neighbours();
      for (std::size_t row = 0; row < found.size(); ++row) per_row_[row] = found[row].extra;
      return;
    }
#endif
    for_each_block(rows_.n_owned, threads_,
                   [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                     count_neighbours(rows_, model_, begin, end, per_row_.data());
                   });
  }

  // per_row_ becomes the derivatives of the energy by the coordination numbers.
  void add_pairs(const D3Sums &sums, [[maybe_unused]] bool node_virial, PotentialOutput &output)
  {
#ifdef MLIP_DD_WITH_CUDA
    if (gpu_) {
      const std::vector<LaneSums> &found = gpu_->dispersion(weights_);
      for (std::size_t row = 0; row < found.size(); ++row) per_row_[row] = found[row].extra;
      return add_lane_sums(found, node_virial, output);
    }
#endif
    for_each_block_of_rows([&](std::int64_t begin, std::int64_t end) {
      return add_dispersion(rows_, model_, weights_, begin, end, per_row_.data(), sums);
    });
    add_blocks(output);
  }

  // Adds to per_row_, likewise. After add_pairs().
  void add_triples(const D3Sums &sums, [[maybe_unused]] bool node_virial, PotentialOutput &output)
  {
#ifdef MLIP_DD_WITH_CUDA
    if (gpu_) {
      const std::vector<LaneSums> &found = gpu_->three_body();
      for (std::size_t row = 0; row < found.size(); ++row) per_row_[row] += found[row].extra;
      return add_lane_sums(found, node_virial, output);
    }
#endif
    for_each_block_of_rows([&](std::int64_t begin, std::int64_t end) {
      return add_three_body(rows_, model_, weights_, begin, end, per_row_.data(), sums);
    });
    add_blocks(output);
  }

  void add_forces_of_counting(const D3Sums &sums, [[maybe_unused]] bool node_virial,
                              PotentialOutput &output)
  {
#ifdef MLIP_DD_WITH_CUDA
    if (gpu_) return add_lane_sums(gpu_->coordination_forces(per_row_), node_virial, output);
#endif
    for_each_block_of_rows([&](std::int64_t begin, std::int64_t end) {
      return add_coordination_forces(rows_, model_, per_row_.data(), begin, end, sums);
    });
    add_blocks(output);
  }

  void add_blocks(PotentialOutput &output) const
  {
    for (const D3Block &block : blocks_) {
      output.energy += block.energy;
      for (std::size_t k = 0; k < 9; ++k) output.virial[k] += block.virial[k];
    }
  }

  D3Parameters parameters_;
  HaloExchange exchange_;
  int threads_;
  NativeDevice device_;
  std::string source_;
  D3Model model_;
#ifdef MLIP_DD_WITH_CUDA
  std::optional<D3OnGpu> gpu_;
#endif
  PairRows rows_;
  bool current_ = false;    // whether rows_ belongs to the plan
  std::vector<double> per_row_;
  std::vector<D3Weights> weights_;
  std::vector<D3Block> blocks_;
};

}    // namespace

std::unique_ptr<Potential> make_d3_potential(const ModelSpec &model,
                                             const PotentialOptions &options,
                                             Communicator &communicator, int local_rank)
{
  return std::make_unique<D3Potential>(model, options, communicator, local_rank);
}

}    // namespace mlip_dd
