#include "potentials/lj/lj_potential.h"

#include <optional>
#include <sstream>

#include "pipeline/output_tensors.h"
#include "potentials/lj/lj_kernel.h"
#include "potentials/lj/lj_lanes.h"
#include "potentials/lj/lj_parameters.h"
#include "potentials/pair/device_pairs.h"
#include "potentials/pair/lane_results.h"
#include "potentials/pair/native_device.h"
#include "potentials/pair/row_blocks.h"
#ifdef MLIP_DD_WITH_CUDA
#include <c10/cuda/CUDAStream.h>

#include "potentials/pair/gpu_rows.h"
#endif

namespace mlip_dd {

namespace {

#ifdef MLIP_DD_WITH_CUDA
class LjOnGpu {
 public:
  LjOnGpu(int gpu, const LjParameters &parameters) : rows_(gpu), pairs_(gpu)
  {
    pairs_.upload(parameters.pairs);
    inverse_width_ = parameters.switch_width > 0.0 ? 1.0 / parameters.switch_width : 0.0;
  }

  const std::vector<LaneSums> &sums(const PairRows &rows, bool new_rows)
  {
    rows_.take(rows, new_rows);
    return rows_.sum([&](LaneSums *sums) { launch_lj(work(rows_.view()), sums); });
  }

  // Of rows that are on the GPU already, into [n_owned] there; enqueued where torch computes.
  void add_sums(const PairView &rows, LaneSums *sums) const
  {
    launch_lj(work(rows), sums, c10::cuda::getCurrentCUDAStream().stream());
  }

 private:
  LjLanes work(const PairView &rows) const { return {rows, pairs_.as<LjPair>(), inverse_width_}; }

  GpuRows rows_;
  GpuArray pairs_;
  double inverse_width_;
};
#endif

class LjPotential final : public Potential {
 public:
  LjPotential(const ModelSpec &model, const PotentialOptions &options, int local_rank)
      : parameters_(read_lj_parameters(model)),
        units_(model.units),
        threads_(options.threads),
        device_(native_device(options, local_rank))
  {
#ifdef MLIP_DD_WITH_CUDA
    if (device_.gpu >= 0) gpu_.emplace(device_.gpu, parameters_);
#endif
  }

  double cutoff() const override { return parameters_.cutoff; }

  void set_plan(const HaloPlan &, HaloMode) override { current_ = false; }

  bool uses_edges() const override { return false; }
  bool takes_device_graph(const std::string &device) const override
  {
    return device == device_.used;
  }
  // Each pair is computed by the owner of each of its ends, for its own end.
  bool adds_to_halo_rows() const override { return false; }

  void evaluate(const AtomGraph &graph, const HostStep &step, const PotentialRequest &request,
                PotentialOutput &output) override
  {
    if (graph.n_owned == 0) return;
    if (graph.device) return evaluate_on(*graph.device, output);
    if (!current_) set_rows(rows_, graph, parameters_.n_types);
    [[maybe_unused]] const bool new_rows = !current_;
    current_ = true;
    set_positions(rows_, step.positions);
#ifdef MLIP_DD_WITH_CUDA
    if (gpu_) return add_lane_sums(gpu_->sums(rows_, new_rows), request.node_virial, output);
#endif
    add_blocks(rows_.view(),
               {output.node_energy.data(), output.forces.data(),
                request.node_virial ? output.node_virial.data() : nullptr},
               output);
  }

  Traffic traffic() const override { return {}; }

  std::vector<std::string> description() const override
  {
    std::ostringstream text;
    text << "potential lj: " << parameters_.n_types << " elements, " << units_ << " units, cutoff "
         << parameters_.cutoff << ", ";
    if (parameters_.switch_width > 0.0)
      text << "switched to zero over the last " << parameters_.switch_width;
    else
      text << (parameters_.shifted ? "shifted to zero there" : "cut off there");
    text << ", float64 on " << device_.used << ", " << threads_ << " threads" << device_.note;
    return {text.str()};
  }

 private:
  void evaluate_on(const DeviceGraph &graph, PotentialOutput &output)
  {
    if (!current_) graph.lay_out_pairs(parameters_.n_types, pairs_);
    current_ = true;
    graph.place_pairs(pairs_);
    const PairView rows = view_of(pairs_);
    const OutputTensors &tensors = *output.tensors;
#ifdef MLIP_DD_WITH_CUDA
    if (gpu_) {
      const at::Tensor sums = empty_lane_sums(rows.n_owned, tensors.forces.options());
      gpu_->add_sums(rows, lane_sums(sums));
      return add_lane_sums(sums, output);
    }
#endif
    add_blocks(
        rows,
        {tensors.node_energy.mutable_data_ptr<double>(), tensors.forces.mutable_data_ptr<double>(),
         tensors.node_virial.defined() ? tensors.node_virial.mutable_data_ptr<double>() : nullptr},
        output);
  }

  // On the CPU.
  void add_blocks(const PairView &rows, const LjSums &sums, PotentialOutput &output)
  {
    blocks_.resize(static_cast<std::size_t>(count_blocks(rows.n_owned)));
    for_each_block(rows.n_owned, threads_,
                   [&](std::int64_t block, std::int64_t begin, std::int64_t end) {
                     blocks_[static_cast<std::size_t>(block)] =
                         add_lj_block(rows, parameters_, begin, end, sums);
                   });
    for (const LjBlock &block : blocks_) {
      output.energy += block.energy;
      for (std::size_t k = 0; k < 9; ++k) output.virial[k] += block.virial[k];
    }
  }

  LjParameters parameters_;
  std::string units_;
  int threads_;
  NativeDevice device_;
#ifdef MLIP_DD_WITH_CUDA
  std::optional<LjOnGpu> gpu_;
#endif
  PairRows rows_;
  DevicePairs pairs_;       // instead, of a DeviceGraph
  bool current_ = false;    // whether they belong to the plan
  std::vector<LjBlock> blocks_;
};

}    // namespace

std::unique_ptr<Potential> make_lj_potential(const ModelSpec &model,
                                             const PotentialOptions &options, int local_rank)
{
  return std::make_unique<LjPotential>(model, options, local_rank);
}

}    // namespace mlip_dd
