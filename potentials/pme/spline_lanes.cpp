#include <ATen/ATen.h>

#include <cstddef>

#include "potentials/pair/run_lanes.h"
#include "potentials/pme/spread.h"
#include "potentials/pme/spread_lanes.h"

namespace mlip_dd {

namespace {

class SplineLanes final : public SplineCharges {
 public:
  explicit SplineLanes(const at::Device &device) : device_(device) {}

  void place(const MeshSize &mesh, int order, const MeshPatch &patch,
             const at::Tensor &fractional) override
  {
    const std::int64_t n = fractional.size(0);
    const at::TensorOptions whole = fractional.options().dtype(at::kInt);
    fractional_ = fractional;
    points_ = at::empty({n, 3}, whole);
    weights_ = at::empty({n, 3, order}, fractional.options());
    derivatives_ = at::empty({n, 3, order}, fractional.options());
    view_.order = order;
    for (std::size_t a = 0; a < 3; ++a) {
      view_.mesh[a] = mesh[a];
      view_.start[a] = patch.box().start[a];
      view_.count[a] = patch.box().count[a];
    }
    view_.n = n;
    view_.fractional = fractional_.const_data_ptr<double>();
    view_.points = points_.mutable_data_ptr<std::int32_t>();
    view_.weights = weights_.mutable_data_ptr<double>();
    view_.derivatives = derivatives_.mutable_data_ptr<double>();
    run_items(PlaceItems{view_}, n, device_);

    // Charges of one column stay in their order, so that sums repeat to the bit.
    const at::Tensor columns = points_.select(1, 0).mul(mesh[1]).add_(points_.select(1, 1));
    const auto [sorted, charges] = columns.sort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
    charges_ = charges.to(at::kInt);
    const std::int64_t count = static_cast<std::int64_t>(mesh[0]) * mesh[1];
    starts_ = at::searchsorted(sorted, at::arange(count + 1, whole), /*out_int32=*/true);
    view_.starts = starts_.const_data_ptr<std::int32_t>();
    view_.charges = charges_.const_data_ptr<std::int32_t>();
  }

  void spread(const at::Tensor &values, const at::Tensor &patch) override
  {
    run_items(SpreadItems{view_, values.const_data_ptr<double>(), patch.mutable_data_ptr<double>()},
              view_.patch_points(), device_);
  }

  void interpolate(const at::Tensor &patch, const at::Tensor &values,
                   const at::Tensor &gradients) override
  {
    constexpr std::int64_t kValue = offsetof(LaneSums, extra) / sizeof(double);
    constexpr std::int64_t kSlopes = offsetof(LaneSums, force) / sizeof(double);
    const at::Tensor sums =
        run_lanes(InterpolateLanes{view_, patch.const_data_ptr<double>()}, view_.n, device_);
    values.copy_(sums.select(1, kValue));
    if (gradients.defined()) gradients.copy_(sums.narrow(1, kSlopes, 3));
  }

 private:
  at::Device device_;
  at::Tensor fractional_, points_, weights_, derivatives_, starts_, charges_;
  SplineView view_;
};

}    // namespace

std::unique_ptr<SplineCharges> make_spline_lanes(const at::Device &device)
{
  return std::make_unique<SplineLanes>(device);
}

}    // namespace mlip_dd
