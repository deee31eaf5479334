#include <ATen/ATen.h>

#include <optional>

#include "potentials/coulomb/real_space.h"
#include "potentials/coulomb/screened_lanes.h"
#include "potentials/coulomb/screened_table.h"
#include "potentials/pair/device_array.h"
#include "potentials/pair/run_lanes.h"

namespace mlip_dd {

namespace {

class RealSpaceLanes final : public RealSpaceSum {
 public:
  explicit RealSpaceLanes(const at::Device &device) : device_(device) {}

  void set_parameters(double alpha, double cutoff) override
  {
    if (coefficients_ && alpha == alpha_ && cutoff == cutoff_) return;
    coefficients_.emplace(device_, ScreenedTable(alpha, cutoff).coefficients());
    alpha_ = alpha;
    cutoff_ = cutoff;
  }

  void set_pairs(const PairView &) override {}

  void add(const PairView &rows, const at::Tensor &charges, double constant,
           const CoulombTensors &sums) override
  {
    const ScreenedLanes work{rows, coefficients_->data(), alpha_ * alpha_, cutoff_ * cutoff_,
                             charges.const_data_ptr<double>()};
    const at::Tensor lanes = run_lanes(work, rows.n_owned, device_);
    const at::Tensor virials = at::empty({rows.n_owned, 9}, charges.options());
    run_items(ScreenedResultItems{lane_sums(lanes), work.charges, constant,
                                  sums.potential.mutable_data_ptr<double>(),
                                  sums.forces.mutable_data_ptr<double>(),
                                  virials.mutable_data_ptr<double>()},
              rows.n_owned, device_);
    add_virials(virials, sums);
  }

 private:
  at::Device device_;
  double alpha_ = 0.0;
  double cutoff_ = 0.0;
  std::optional<DeviceArray<double>> coefficients_;    // of the table
};

}    // namespace

std::unique_ptr<RealSpaceSum> make_real_space_lanes(const at::Device &device)
{
  return std::make_unique<RealSpaceLanes>(device);
}

}    // namespace mlip_dd
