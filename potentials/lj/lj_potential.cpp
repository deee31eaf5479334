#include "potentials/lj/lj_potential.h"

#include <optional>
#include <sstream>

#include "potentials/lj/lj_kernel.h"
#include "potentials/lj/lj_lanes.h"
#include "potentials/lj/lj_parameters.h"
#include "potentials/pair/device_array.h"
#include "potentials/pair/lane_results.h"
#include "potentials/pair/native_device.h"
#include "potentials/pair/pair_list.h"
#include "potentials/pair/row_results.h"
#include "potentials/pair/run_lanes.h"

namespace mlip_dd {

namespace {

class LjPotential final : public Potential {
 public:
  LjPotential(const ModelSpec &model, const PotentialOptions &options, int local_rank)
      : parameters_(read_lj_parameters(model)),
        units_(model.units),
        threads_(options.threads),
        device_(native_device(options, local_rank)),
        pairs_(device_)
  {
    if (device_.lanes) constants_.emplace(device_.device, parameters_.pairs);
  }

  double cutoff() const override { return parameters_.cutoff; }

  void set_plan(const HaloPlan &, HaloMode) override { pairs_.forget(); }

  bool uses_edges() const override { return false; }
  bool takes_device_graph(const std::string &device) const override
  {
    return device == device_.used;
  }
  // Each pair is computed by the owner of each of its ends, for its own end.
  bool adds_to_halo_rows() const override { return false; }

  void evaluate(const AtomGraph &graph, const HostStep &step, const PotentialRequest &,
                PotentialOutput &output) override
  {
    if (graph.n_owned == 0) return;
    const PairView rows = pairs_.take(graph, step, parameters_.n_types);
    if (device_.lanes) {
      const double inverse_width =
          parameters_.switch_width > 0.0 ? 1.0 / parameters_.switch_width : 0.0;
      const LjLanes work{rows, constants_->data(), inverse_width};
      return add_lane_sums(run_lanes(work, rows.n_owned, device_.device), output);
    }
    const RowResults results = row_results(output);
    add_blocks(
        rows.n_owned, threads_,
        [&](std::int64_t begin, std::int64_t end) {
          return add_lj_block(rows, parameters_, begin, end, results);
        },
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
  LjParameters parameters_;
  std::string units_;
  int threads_;
  NativeDevice device_;
  PairList pairs_;
  std::optional<DeviceArray<LjPair>> constants_;    // where lanes read them
};

}    // namespace

std::unique_ptr<Potential> make_lj_potential(const ModelSpec &model,
                                             const PotentialOptions &options, int local_rank)
{
  return std::make_unique<LjPotential>(model, options, local_rank);
}

}    // namespace mlip_dd
