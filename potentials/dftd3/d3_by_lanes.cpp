#include <ATen/ATen.h>

#include "potentials/dftd3/d3_stages.h"
#include "potentials/dftd3/d3_triple_lanes.h"
#include "potentials/pair/device_array.h"
#include "potentials/pair/lane_results.h"
#include "potentials/pair/run_lanes.h"

namespace mlip_dd {

namespace {

std::vector<double> c6_of(const D3Model &model)
{
  std::vector<double> c6;
  for (const D3Pair &pair : model.pairs) c6.insert(c6.end(), pair.c6.begin(), pair.c6.end());
  return c6;
}

std::vector<D3References> references_of(const D3Model &model)
{
  std::vector<D3References> references;
  for (const std::vector<double> &of_type : model.references) {
    D3References own;
    own.n = static_cast<int>(of_type.size());
    std::copy(of_type.begin(), of_type.end(), own.coordination);
    references.push_back(own);
  }
  return references;
}

class D3ByLanes final : public D3Stages {
 public:
  D3ByLanes(const D3Model &model, const at::Device &device)
      : device_(device),
        pairs_(device, {model.pairs.begin(), model.pairs.end()}),
        c6_(device, c6_of(model)),
        references_(device, references_of(model)),
        triples_{{}, model.three_body_scale, model.three_body_cutoff, model.three_body_switch_width}
  {
    view_.ranges = model;
    view_.zero_damping = model.zero_damping;
    view_.pairs = pairs_.data();
    view_.c6 = c6_.data();
    view_.references = references_.data();
  }

  at::Tensor count_neighbours(const PairView &rows) override
  {
    view_.rows = rows;
    return extra_of(run_lanes(D3CountLanes{view_}, rows.n_owned, device_));
  }

  at::Tensor add_dispersion(const PairView &rows, const at::Tensor &coordination,
                            PotentialOutput &) override
  {
    constexpr std::int64_t kNumbers = sizeof(D3Weights) / sizeof(double);
    weights_ = at::empty({coordination.numel(), kNumbers}, coordination.options());
    auto *weights = reinterpret_cast<D3Weights *>(weights_.mutable_data_ptr<double>());
    run_items(
        D3WeightItems{rows.types, view_.references, coordination.const_data_ptr<double>(), weights},
        coordination.numel(), device_);
    view_.weights = weights;
    sums_ = run_lanes(D3DispersionLanes{view_}, rows.n_owned, device_);
    if (triples_.scale > 0.0) {
      triples_.view = view_;
      sums_.add_(run_lanes(triples_, rows.n_owned, device_));
    }
    return extra_of(sums_);
  }

  void add_coordination_forces(const PairView &rows, const at::Tensor &energy_slopes,
                               PotentialOutput &output) override
  {
    view_.energy_slopes = energy_slopes.const_data_ptr<double>();
    sums_.add_(run_lanes(D3CoordinationLanes{view_}, rows.n_owned, device_));
    add_lane_sums(sums_, output);
  }

 private:
  at::Device device_;
  DeviceArray<D3PairNumbers> pairs_;
  DeviceArray<double> c6_;
  DeviceArray<D3References> references_;
  D3View view_;
  D3TripleLanes triples_;    // but for the view
  at::Tensor weights_;       // D3Weights of all rows
  at::Tensor sums_;          // LaneSums of what was found so far in this step
};

}    // namespace

std::unique_ptr<D3Stages> make_d3_lanes(const D3Model &model, const at::Device &device)
{
  return std::make_unique<D3ByLanes>(model, device);
}

}    // namespace mlip_dd
