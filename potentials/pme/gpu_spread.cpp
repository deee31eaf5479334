#include "potentials/pme/gpu_spread.h"

#include <algorithm>
#include <vector>

#include "potentials/pair/gpu_array.h"
#include "potentials/pme/charge_columns.h"
#include "potentials/pme/spread_lanes.h"

namespace mlip_dd {

namespace {

class GpuSplineCharges final : public SplineCharges {
 public:
  explicit GpuSplineCharges(int gpu)
      : gpu_(gpu),
        fractional_(gpu),
        points_(gpu),
        weights_(gpu),
        derivatives_(gpu),
        starts_(gpu),
        charges_(gpu),
        values_(gpu),
        patch_(gpu),
        sums_(gpu)
  {}

  void place(const MeshSize &mesh, int order, const MeshPatch &patch,
             std::span<const double> fractional) override
  {
    const ChargeColumns columns = sort_into_columns(mesh, fractional);
    fractional_.upload(fractional);
    starts_.upload(columns.starts);
    charges_.upload(columns.charges);
    points_.reserve(fractional.size() * sizeof(std::int32_t));
    for (GpuArray *entries : {&weights_, &derivatives_})
      entries->reserve(fractional.size() * static_cast<std::size_t>(order) * sizeof(double));
    patch_.reserve(static_cast<std::size_t>(patch.box().points()) * sizeof(double));
    view_.order = order;
    for (std::size_t a = 0; a < 3; ++a) {
      view_.mesh[a] = mesh[a];
      view_.start[a] = patch.box().start[a];
      view_.count[a] = patch.box().count[a];
    }
    view_.n = static_cast<std::int64_t>(fractional.size() / 3);
    view_.fractional = fractional_.as<double>();
    view_.points = points_.as<std::int32_t>();
    view_.weights = weights_.as<double>();
    view_.derivatives = derivatives_.as<double>();
    view_.starts = starts_.as<std::int32_t>();
    view_.charges = charges_.as<std::int32_t>();
    with_gpu(gpu_, [&] { launch_splines(PlaceItems{view_}); });
  }

  void spread(std::span<const double> values, std::span<double> patch) override
  {
    values_.upload(values);
    with_gpu(gpu_, [&] {
      launch_splines(SpreadItems{view_, values_.as<double>(), patch_.as<double>()});
    });
    patch_.download(patch.data(), patch.size_bytes());
  }

  void interpolate(std::span<const double> patch, std::span<double> values,
                   std::span<double> gradients) override
  {
    patch_.upload(patch);
    const std::vector<LaneSums> &found = sums_.sum(view_.n, [&](LaneSums *sums) {
      launch_splines(InterpolateLanes{view_, patch_.as<double>()}, sums);
    });
    for (std::size_t i = 0; i < found.size(); ++i) {
      values[i] = found[i].extra;
      if (!gradients.empty()) std::copy_n(found[i].force, 3, &gradients[3 * i]);
    }
  }

 private:
  int gpu_;
  GpuArray fractional_, points_, weights_, derivatives_, starts_, charges_, values_, patch_;
  GpuSums sums_;
  SplineView view_;
};

}    // namespace

std::unique_ptr<SplineCharges> make_gpu_spline_charges(int gpu)
{
  return std::make_unique<GpuSplineCharges>(gpu);
}

}    // namespace mlip_dd
