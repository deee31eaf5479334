#include "potentials/pme/spread.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "potentials/pme/splines.h"

namespace mlip_dd {

namespace {

// Calls body.template operator()<order>() for the order at hand: loops of known length unroll.
template <class Body>
void with_order(int order, Body body)
{
  switch (order) {
    case 4:
      return body.template operator()<4>();
    case 5:
      return body.template operator()<5>();
    case 6:
      return body.template operator()<6>();
    case 7:
      return body.template operator()<7>();
    default:
      return body.template operator()<8>();
  }
}

// Whether the places along z follow one another, so that a line can be read as one piece.
template <int Order>
bool in_line(const std::int32_t *z)
{
  return z[Order - 1] - z[0] == Order - 1;
}

class CpuSplineCharges final : public SplineCharges {
 public:
  void place(const MeshSize &mesh, int order, const MeshPatch &patch,
             std::span<const double> fractional) override;
  void spread(std::span<const double> values, std::span<double> patch) override;
  void interpolate(std::span<const double> patch, std::span<double> values,
                   std::span<double> gradients) override;

 private:
  template <int Order>
  void place_all(const MeshPatch &patch, std::span<const double> fractional);
  template <int Order>
  void spread_all(std::span<const double> values, double *patch) const;
  template <int Order>
  void interpolate_all(const double *patch, double *values, double *gradients) const;

  std::int64_t count_ = 0;
  int order_ = 0;
  MeshSize mesh_{};
  std::array<int, 3> shape_{};
  // Per charge and axis `order_` entries each.
  std::vector<double> weights_, derivatives_;
  std::vector<std::int32_t> places_;
};

void CpuSplineCharges::place(const MeshSize &mesh, int order, const MeshPatch &patch,
                             std::span<const double> fractional)
{
  count_ = static_cast<std::int64_t>(fractional.size() / 3);
  order_ = order;
  mesh_ = mesh;
  shape_ = patch.box().count;
  const auto entries = static_cast<std::size_t>(3 * order * count_);
  weights_.resize(entries);
  derivatives_.resize(entries);
  places_.resize(entries);
  with_order(order, [&]<int Order>() { place_all<Order>(patch, fractional); });
}

template <int Order>
void CpuSplineCharges::place_all(const MeshPatch &patch, std::span<const double> fractional)
{
  for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
    const MeshPlace place = mesh_place(&fractional[3 * i], mesh_);
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t first = (3 * i + a) * Order;
      spline_weights<Order>(place.offset[a], &weights_[first], &derivatives_[first]);
      const std::vector<int> &places = patch.places(a);
      int point = place.point[a] - (Order - 1);
      while (point < 0) point += mesh_[a];
      for (std::size_t j = 0; j < Order; ++j) {
        places_[first + j] = places[static_cast<std::size_t>(point)];
        if (++point == mesh_[a]) point = 0;
      }
    }
  }
}

void CpuSplineCharges::spread(std::span<const double> values, std::span<double> patch)
{
  std::fill(patch.begin(), patch.end(), 0.0);
  with_order(order_, [&]<int Order>() { spread_all<Order>(values, patch.data()); });
}

template <int Order>
void CpuSplineCharges::spread_all(std::span<const double> values, double *patch) const
{
  for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
    const double *wx = &weights_[3 * i * Order], *wy = wx + Order, *wz = wy + Order;
    const std::int32_t *px = &places_[3 * i * Order], *py = px + Order, *pz = py + Order;
    const bool line = in_line<Order>(pz);
    for (int a = 0; a < Order; ++a)
      for (int b = 0; b < Order; ++b) {
        const double weight = values[i] * wx[a] * wy[b];
        double *row = patch + (static_cast<std::int64_t>(px[a]) * shape_[1] + py[b]) * shape_[2];
        if (line)
          for (int c = 0; c < Order; ++c) row[pz[0] + c] += weight * wz[c];
        else
          for (int c = 0; c < Order; ++c) row[pz[c]] += weight * wz[c];
      }
  }
}

void CpuSplineCharges::interpolate(std::span<const double> patch, std::span<double> values,
                                   std::span<double> gradients)
{
  with_order(order_, [&]<int Order>() {
    interpolate_all<Order>(patch.data(), values.data(),
                           gradients.empty() ? nullptr : gradients.data());
  });
}

template <int Order>
void CpuSplineCharges::interpolate_all(const double *patch, double *values, double *gradients) const
{
  for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
    const std::size_t first = 3 * i * Order;
    const double *wx = &weights_[first], *wy = wx + Order, *wz = wy + Order;
    const double *dx = &derivatives_[first], *dy = dx + Order, *dz = dy + Order;
    const std::int32_t *px = &places_[first], *py = px + Order, *pz = py + Order;
    const bool line = in_line<Order>(pz);
    double value = 0.0, gx = 0.0, gy = 0.0, gz = 0.0;
    for (int a = 0; a < Order; ++a) {
      double plane = 0.0, plane_y = 0.0, plane_z = 0.0;
      for (int b = 0; b < Order; ++b) {
        const double *row =
            patch + (static_cast<std::int64_t>(px[a]) * shape_[1] + py[b]) * shape_[2];
        double sum = 0.0, slope = 0.0;
        if (line)
          for (int c = 0; c < Order; ++c) {
            sum += row[pz[0] + c] * wz[c];
            slope += row[pz[0] + c] * dz[c];
          }
        else
          for (int c = 0; c < Order; ++c) {
            sum += row[pz[c]] * wz[c];
            slope += row[pz[c]] * dz[c];
          }
        plane += wy[b] * sum;
        plane_y += dy[b] * sum;
        plane_z += wy[b] * slope;
      }
      value += wx[a] * plane;
      gx += dx[a] * plane;
      gy += wx[a] * plane_y;
      gz += wx[a] * plane_z;
    }
    values[i] = value;
    if (!gradients) continue;
    gradients[3 * i] = gx * mesh_[0];
    gradients[3 * i + 1] = gy * mesh_[1];
    gradients[3 * i + 2] = gz * mesh_[2];
  }
}

}    // namespace

std::unique_ptr<SplineCharges> make_spline_charges()
{
  return std::make_unique<CpuSplineCharges>();
}

}    // namespace mlip_dd
