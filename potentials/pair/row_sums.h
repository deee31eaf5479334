// What kernels gather over the neighbours of one atom, four neighbours at a time.
#pragma once

#include "potentials/pair/vector4.h"

namespace mlip_dd {

// x_sender - x_receiver of four pairs, their squared length, and the senders' rows as numbers.
struct Pairs4 {
  Double4 x, y, z, squared, rows;
};

// The neighbours' list is read once in a step, from beyond the caches: asked for in time.
inline constexpr int kPrefetched = 256;

MLIP_DD_INLINE Pairs4 load_pairs(const Packed4 *atoms, const std::int32_t *neighbours,
                                 const Double4 &x, const Double4 &y, const Double4 &z)
{
  __builtin_prefetch(neighbours + kPrefetched);
  const Columns4 senders = transpose4(load4(atoms[neighbours[0]]), load4(atoms[neighbours[1]]),
                                      load4(atoms[neighbours[2]]), load4(atoms[neighbours[3]]));
  Pairs4 pairs;
  pairs.x = senders.c0 - x;
  pairs.y = senders.c1 - y;
  pairs.z = senders.c2 - z;
  pairs.squared = pairs.x * pairs.x + pairs.y * pairs.y + pairs.z * pairs.z;
  pairs.rows = senders.c3;
  return pairs;
}

// Force on the receiver, lane by lane.
struct Force4 {
  Double4 x{}, y{}, z{};
};

// Six components of sum_pairs d_a F_b, lane by lane, where F is the force on the receiver.
struct Moment4 {
  Double4 xx{}, yy{}, zz{}, xy{}, xz{}, yz{};
};

// Adds the central force slope_over_r * d of four pairs; slope_over_r is du/dr / r.
MLIP_DD_INLINE void add_pairs(const Pairs4 &pairs, const Double4 &slope_over_r, Force4 &force,
                              Moment4 &moment)
{
  const Double4 x = slope_over_r * pairs.x, y = slope_over_r * pairs.y, z = slope_over_r * pairs.z;
  force.x += x;
  force.y += y;
  force.z += z;
  moment.xx += x * pairs.x;
  moment.yy += y * pairs.y;
  moment.zz += z * pairs.z;
  moment.xy += x * pairs.y;
  moment.xz += x * pairs.z;
  moment.yz += y * pairs.z;
}

MLIP_DD_INLINE void add_moment(const Moment4 &from, Moment4 &to)
{
  to.xx += from.xx;
  to.yy += from.yy;
  to.zz += from.zz;
  to.xy += from.xy;
  to.xz += from.xz;
  to.yz += from.yz;
}

// Adds the virial of half of each pair, -1/2 d_a F_b, to a row-major 3 x 3 tensor.
MLIP_DD_INLINE void add_half_virial(const Moment4 &moment, double *virial)
{
  const Double4 four = -0.5 * sums4(moment.xx, moment.yy, moment.zz, moment.xy);
  const double xz = -0.5 * sum4(moment.xz), yz = -0.5 * sum4(moment.yz);
  const double tensor[9] = {four[0], four[3], xz, four[3], four[1], yz, xz, yz, four[2]};
  for (int k = 0; k < 9; ++k) virial[k] += tensor[k];
}

}    // namespace mlip_dd
