// Charges to mesh points and back, for the threads of a GPU. Each mesh point gathers from the
// charges around it, so that sums have one order and no atomics.
#pragma once

#include <cstdint>

#include "potentials/pair/lanes.h"
#include "potentials/pme/splines.h"

namespace mlip_dd {

// Charges on a patch of the mesh, in the memory where kernels run. The patch holds all points of
// all charges.
struct SplineView {
  int order = 0;
  int mesh[3] = {};
  int start[3] = {}, count[3] = {};    // of the patch
  std::int64_t n = 0;
  const double *fractional = nullptr;                   // [n, 3]
  std::int32_t *points = nullptr;                       // [n, 3] AxisPlace::point
  double *weights = nullptr, *derivatives = nullptr;    // [n, 3, order]
  // Column x * size_y + y holds charges [starts[column], starts[column + 1]), in their own order.
  const std::int32_t *starts = nullptr;     // [size_x * size_y + 1]
  const std::int32_t *charges = nullptr;    // [n]

  MLIP_DD_TERM std::int64_t patch_points() const
  {
    return static_cast<std::int64_t>(count[0]) * count[1] * count[2];
  }

  // The mesh point of a charge's k-th weight along an axis, and where that is in the patch.
  MLIP_DD_TERM int place(std::int64_t charge, int axis, int k) const
  {
    const int point = points[3 * charge + axis] - (order - 1) + k;
    return (point - start[axis] + 2 * mesh[axis]) % mesh[axis];
  }
};

// Fills points, weights and derivatives of one charge.
struct PlaceItems {
  SplineView spline;

  MLIP_DD_TERM void operator()(std::int64_t charge) const
  {
    for (int a = 0; a < 3; ++a) {
      const std::int64_t entry = 3 * charge + a;
      const AxisPlace place = axis_place(spline.fractional[entry], spline.mesh[a]);
      spline.points[entry] = place.point;
      double *weights = spline.weights + entry * spline.order;
      double *derivatives = spline.derivatives + entry * spline.order;
      switch (spline.order) {
        case 4:
          spline_weights<4>(place.offset, weights, derivatives);
          break;
        case 5:
          spline_weights<5>(place.offset, weights, derivatives);
          break;
        case 6:
          spline_weights<6>(place.offset, weights, derivatives);
          break;
        case 7:
          spline_weights<7>(place.offset, weights, derivatives);
          break;
        default:
          spline_weights<8>(place.offset, weights, derivatives);
      }
    }
  }
};

// The value of one point of the patch: sum over charges of value times weights.
struct SpreadItems {
  SplineView spline;
  const double *values = nullptr;    // [n]
  double *patch = nullptr;

  MLIP_DD_TERM void operator()(std::int64_t item) const
  {
    const int order = spline.order;
    const std::int64_t line = item / spline.count[2];
    // On the mesh.
    const int x = wrapped(spline.start[0] + static_cast<int>(line / spline.count[1]), 0);
    const int y = wrapped(spline.start[1] + static_cast<int>(line % spline.count[1]), 1);
    const int z = wrapped(spline.start[2] + static_cast<int>(item % spline.count[2]), 2);
    double sum = 0.0;
    for (int a = 0; a < order; ++a)
      for (int b = 0; b < order; ++b) {
        // The a-th weight of a charge is that of the point a - (order - 1) from its own.
        const std::int64_t column =
            static_cast<std::int64_t>(wrapped(x + order - 1 - a, 0)) * spline.mesh[1] +
            wrapped(y + order - 1 - b, 1);
        for (std::int32_t k = spline.starts[column]; k < spline.starts[column + 1]; ++k) {
          const std::int64_t charge = spline.charges[k];
          const int c = wrapped(z - spline.points[3 * charge + 2] + order - 1 + spline.mesh[2], 2);
          if (c >= order) continue;
          const double *weights = spline.weights + 3 * charge * order;
          sum += values[charge] * weights[a] * weights[order + b] * weights[2 * order + c];
        }
      }
    patch[item] = sum;
  }

 private:
  MLIP_DD_TERM int wrapped(int point, int axis) const { return point % spline.mesh[axis]; }
};

// Of one charge: extra becomes the value there, force its derivatives by the fractional
// coordinates.
struct InterpolateLanes {
  SplineView spline;
  const double *patch = nullptr;

  MLIP_DD_TERM LaneSums operator()(std::int64_t charge, int lane) const
  {
    const int order = spline.order;
    const double *wx = spline.weights + 3 * charge * order, *wy = wx + order, *wz = wy + order;
    const double *dx = spline.derivatives + 3 * charge * order, *dy = dx + order, *dz = dy + order;
    LaneSums sums;
    for (int line = lane; line < order * order; line += kLanesPerAtom) {
      const int a = line / order, b = line % order;
      const double *row =
          patch + (static_cast<std::int64_t>(spline.place(charge, 0, a)) * spline.count[1] +
                   spline.place(charge, 1, b)) *
                      spline.count[2];
      double value = 0.0, slope = 0.0;
      for (int c = 0; c < order; ++c) {
        const double point = row[spline.place(charge, 2, c)];
        value += point * wz[c];
        slope += point * dz[c];
      }
      sums.extra += wx[a] * wy[b] * value;
      sums.force[0] += spline.mesh[0] * dx[a] * wy[b] * value;
      sums.force[1] += spline.mesh[1] * wx[a] * dy[b] * value;
      sums.force[2] += spline.mesh[2] * wx[a] * wy[b] * slope;
    }
    return sums;
  }
};

}    // namespace mlip_dd
