#include "potentials/pme/spread.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "potentials/pair/row_blocks.h"
#include "potentials/pair/vector4.h"
#include "potentials/pme/charge_bands.h"
#include "potentials/pme/splines.h"

namespace mlip_dd {

namespace {

// Whether the places along z follow one another, so that a line can be read as one piece.
template <int Order>
MLIP_DD_INLINE bool in_line(const std::int32_t *z)
{
  return z[Order - 1] - z[0] == Order - 1;
}

// Charges as they are spread. Those that follow one another stand close on the mesh.
struct PlacedCharges {
  MeshSize mesh{};
  std::array<int, 3> shape{};               // of the patch
  const std::int32_t *charges = nullptr;    // [n] index of each in the caller's arrays
  // [n, 3, order]
  const double *weights = nullptr;
  const double *derivatives = nullptr;
  const std::int32_t *places = nullptr;
};

template <int Order>
MLIP_DD_INLINE void spread_all(const PlacedCharges &placed, std::int64_t begin, std::int64_t end,
                               const double *values, double *patch)
{
  for (std::int64_t i = begin; i < end; ++i) {
    const double *wx = &placed.weights[3 * i * Order], *wy = wx + Order, *wz = wy + Order;
    const std::int32_t *px = &placed.places[3 * i * Order], *py = px + Order, *pz = py + Order;
    const double value = values[placed.charges[i]];
    const bool line = in_line<Order>(pz);
    for (int a = 0; a < Order; ++a)
      for (int b = 0; b < Order; ++b) {
        const double weight = value * wx[a] * wy[b];
        double *row =
            patch + (static_cast<std::int64_t>(px[a]) * placed.shape[1] + py[b]) * placed.shape[2];
        if (line)
          for (int c = 0; c < Order; ++c) row[pz[0] + c] += weight * wz[c];
        else
          for (int c = 0; c < Order; ++c) row[pz[c]] += weight * wz[c];
      }
  }
}

template <int Order>
MLIP_DD_INLINE void interpolate_all(const PlacedCharges &placed, std::int64_t begin,
                                    std::int64_t end, const double *patch, double *values,
                                    double *gradients)
{
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t first = 3 * i * Order;
    const double *wx = &placed.weights[first], *wy = wx + Order, *wz = wy + Order;
    const double *dx = &placed.derivatives[first], *dy = dx + Order, *dz = dy + Order;
    const std::int32_t *px = &placed.places[first], *py = px + Order, *pz = py + Order;
    const bool line = in_line<Order>(pz);
    double value = 0.0, gx = 0.0, gy = 0.0, gz = 0.0;
    for (int a = 0; a < Order; ++a) {
      // Over the rows of a plane, for each z; along z only then.
      double plane[Order] = {}, plane_y[Order] = {};
      for (int b = 0; b < Order; ++b) {
        const double *row =
            patch + (static_cast<std::int64_t>(px[a]) * placed.shape[1] + py[b]) * placed.shape[2];
        if (line)
          for (int c = 0; c < Order; ++c) {
            plane[c] += wy[b] * row[pz[0] + c];
            plane_y[c] += dy[b] * row[pz[0] + c];
          }
        else
          for (int c = 0; c < Order; ++c) {
            plane[c] += wy[b] * row[pz[c]];
            plane_y[c] += dy[b] * row[pz[c]];
          }
      }
      double sum = 0.0, sum_y = 0.0, sum_z = 0.0;
      for (int c = 0; c < Order; ++c) {
        sum += wz[c] * plane[c];
        sum_y += wz[c] * plane_y[c];
        sum_z += dz[c] * plane[c];
      }
      value += wx[a] * sum;
      gx += dx[a] * sum;
      gy += wx[a] * sum_y;
      gz += wx[a] * sum_z;
    }
    const std::int64_t charge = placed.charges[i];
    values[charge] = value;
    if (!gradients) continue;
    gradients[3 * charge] = gx * placed.mesh[0];
    gradients[3 * charge + 1] = gy * placed.mesh[1];
    gradients[3 * charge + 2] = gz * placed.mesh[2];
  }
}

// Loops of known length unroll.
MLIP_DD_KERNEL void spread_any(int order, const PlacedCharges &placed, std::int64_t begin,
                               std::int64_t end, const double *values, double *patch)
{
  switch (order) {
    case 4:
      return spread_all<4>(placed, begin, end, values, patch);
    case 5:
      return spread_all<5>(placed, begin, end, values, patch);
    case 6:
      return spread_all<6>(placed, begin, end, values, patch);
    case 7:
      return spread_all<7>(placed, begin, end, values, patch);
    default:
      return spread_all<8>(placed, begin, end, values, patch);
  }
}

MLIP_DD_KERNEL void interpolate_any(int order, const PlacedCharges &placed, std::int64_t begin,
                                    std::int64_t end, const double *patch, double *values,
                                    double *gradients)
{
  switch (order) {
    case 4:
      return interpolate_all<4>(placed, begin, end, patch, values, gradients);
    case 5:
      return interpolate_all<5>(placed, begin, end, patch, values, gradients);
    case 6:
      return interpolate_all<6>(placed, begin, end, patch, values, gradients);
    case 7:
      return interpolate_all<7>(placed, begin, end, patch, values, gradients);
    default:
      return interpolate_all<8>(placed, begin, end, patch, values, gradients);
  }
}

class CpuSplineCharges final : public SplineCharges {
 public:
  explicit CpuSplineCharges(int threads) : threads_(threads) {}

  void place(const MeshSize &mesh, int order, const MeshPatch &patch,
             const at::Tensor &fractional) override;

  void spread(const at::Tensor &values_of_charges, const at::Tensor &patch_tensor) override
  {
    const double *values = values_of_charges.const_data_ptr<double>();
    auto *patch = patch_tensor.mutable_data_ptr<double>();
    std::fill_n(patch, patch_tensor.numel(), 0.0);
    // Charges of every other band touch no point in common.
    for (const std::int64_t parity : {0, 1})
      for_each_item((bands_.bands() + 1 - parity) / 2, threads_, [&](std::int64_t item) {
        const auto band = static_cast<std::size_t>(2 * item + parity);
        spread_any(order_, placed_, bands_.starts[band], bands_.starts[band + 1], values, patch);
      });
  }

  void interpolate(const at::Tensor &patch, const at::Tensor &values,
                   const at::Tensor &gradients) override
  {
    const double *mesh = patch.const_data_ptr<double>();
    auto *to_values = values.mutable_data_ptr<double>();
    auto *to_gradients = gradients.defined() ? gradients.mutable_data_ptr<double>() : nullptr;
    for_each_item(bands_.bands(), threads_, [&](std::int64_t item) {
      const auto band = static_cast<std::size_t>(item);
      interpolate_any(order_, placed_, bands_.starts[band], bands_.starts[band + 1], mesh,
                      to_values, to_gradients);
    });
  }

 private:
  template <int Order>
  void place_some(const MeshPatch &patch, std::span<const double> fractional, std::size_t begin,
                  std::size_t end);
  void place_any(const MeshPatch &patch, std::span<const double> fractional, std::size_t begin,
                 std::size_t end);

  int threads_;
  int order_ = 0;
  PlacedCharges placed_;    // views of what follows
  ChargeBands bands_;
  std::vector<double> weights_, derivatives_;
  std::vector<std::int32_t> places_;
};

void CpuSplineCharges::place(const MeshSize &mesh, int order, const MeshPatch &patch,
                             const at::Tensor &fractional_places)
{
  const std::span fractional(fractional_places.const_data_ptr<double>(),
                             static_cast<std::size_t>(fractional_places.numel()));
  order_ = order;
  bands_ = sort_into_bands(mesh, fractional);
  const std::size_t entries = static_cast<std::size_t>(3 * order) * bands_.charges.size();
  weights_.resize(entries);
  derivatives_.resize(entries);
  places_.resize(entries);
  placed_ = {
      mesh,          patch.box().count, bands_.charges.data(), weights_.data(), derivatives_.data(),
      places_.data()};
  for_each_block(static_cast<std::int64_t>(bands_.charges.size()), threads_,
                 [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                   place_any(patch, fractional, static_cast<std::size_t>(begin),
                             static_cast<std::size_t>(end));
                 });
}

void CpuSplineCharges::place_any(const MeshPatch &patch, std::span<const double> fractional,
                                 std::size_t begin, std::size_t end)
{
  switch (order_) {
    case 4:
      return place_some<4>(patch, fractional, begin, end);
    case 5:
      return place_some<5>(patch, fractional, begin, end);
    case 6:
      return place_some<6>(patch, fractional, begin, end);
    case 7:
      return place_some<7>(patch, fractional, begin, end);
    default:
      return place_some<8>(patch, fractional, begin, end);
  }
}

template <int Order>
void CpuSplineCharges::place_some(const MeshPatch &patch, std::span<const double> fractional,
                                  std::size_t begin, std::size_t end)
{
  const MeshSize &mesh = placed_.mesh;
  for (std::size_t i = begin; i < end; ++i) {
    const MeshPlace place =
        mesh_place(&fractional[3 * static_cast<std::size_t>(bands_.charges[i])], mesh);
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t first = (3 * i + a) * Order;
      spline_weights<Order>(place.offset[a], &weights_[first], &derivatives_[first]);
      const std::vector<int> &places = patch.places(a);
      int point = place.point[a] - (Order - 1);
      while (point < 0) point += mesh[a];
      for (std::size_t j = 0; j < Order; ++j) {
        places_[first + j] = places[static_cast<std::size_t>(point)];
        if (++point == mesh[a]) point = 0;
      }
    }
  }
}

}    // namespace

std::unique_ptr<SplineCharges> make_spline_charges(int threads)
{
  return std::make_unique<CpuSplineCharges>(threads);
}

}    // namespace mlip_dd
