// Sums over the neighbours of one atom by several lanes of a GPU, each with every n-th neighbour.
// Compiled for the CPU, too, so that what runs on a GPU is tested without one.
#pragma once

#include <cstdint>

#include "potentials/pair/number.h"
#include "potentials/pair/pair_view.h"

namespace mlip_dd {

inline constexpr int kLanesPerAtom = 32;    // threads of a GPU that share an atom

// What one lane adds up, and what an atom has of all of them.
struct LaneSums {
  double force[3] = {};     // on the atom, eV/Angstrom
  double energy = 0.0;      // of its pairs, twice its own, eV
  double moment[6] = {};    // xx yy zz xy xz yz of sum d_a F_b, eV
  double extra = 0.0;       // what else a potential sums

  MLIP_DD_TERM void add(const LaneSums &other)
  {
    for (int a = 0; a < 3; ++a) force[a] += other.force[a];
    energy += other.energy;
    for (int k = 0; k < 6; ++k) moment[k] += other.moment[k];
    extra += other.extra;
  }
};

// Where component k of a row-major tensor stands in LaneSums::moment.
MLIP_DD_TERM int moment_place(int k)
{
  const int a = k / 3, b = k % 3;
  return a == b ? a : a + b + 2;
}

// x_sender - x_receiver of a pair, its squared length, and the sender's row.
struct LanePair {
  double x, y, z, squared;
  std::int64_t row;
};

// Entry k of the neighbours, beside an owned atom.
MLIP_DD_TERM LanePair lane_pair(const PairView &rows, const double *own, std::int64_t k)
{
  const double *sender = rows.atoms[rows.neighbours[k]].values;
  const double x = sender[0] - own[0], y = sender[1] - own[1], z = sender[2] - own[2];
  return {x, y, z, x * x + y * y + z * z, static_cast<std::int64_t>(sender[3])};
}

// Calls visit(pair) for the lane's neighbours of one type around an owned atom; those that fill up
// a run lie out of every reach.
template <class Visit>
MLIP_DD_TERM void for_each_neighbour(const PairView &rows, std::int64_t row, int type, int lane,
                                     const Visit &visit)
{
  const double *own = rows.atoms[rows.owned_atoms[row]].values;
  const NeighbourRun run = rows.runs[row * rows.n_types + type];
  for (std::int64_t k = run.begin + lane; k < run.end; k += kLanesPerAtom)
    visit(lane_pair(rows, own, k));
}

// Adds the central force slope_over_r * d of a pair; slope_over_r is du/dr / r.
MLIP_DD_TERM void add_pair(const LanePair &pair, double slope_over_r, LaneSums &sums)
{
  const double x = slope_over_r * pair.x, y = slope_over_r * pair.y, z = slope_over_r * pair.z;
  sums.force[0] += x;
  sums.force[1] += y;
  sums.force[2] += z;
  sums.moment[0] += x * pair.x;
  sums.moment[1] += y * pair.y;
  sums.moment[2] += z * pair.z;
  sums.moment[3] += x * pair.y;
  sums.moment[4] += x * pair.z;
  sums.moment[5] += y * pair.z;
}

// sums[row] of `work`, a function of row and lane, for n rows: what the launch on a GPU computes,
// lane by lane and added in its order.
template <class Work>
void run_lanes_on_host(const Work &work, std::int64_t n, LaneSums *sums)
{
  for (std::int64_t row = 0; row < n; ++row) {
    LaneSums lanes[kLanesPerAtom];
    for (int lane = 0; lane < kLanesPerAtom; ++lane) lanes[lane] = work(row, lane);
    for (int half = kLanesPerAtom / 2; half > 0; half /= 2)
      for (int lane = 0; lane < half; ++lane) lanes[lane].add(lanes[lane + half]);
    sums[row] = lanes[0];
  }
}

// work(item) for n items, as the launch on a GPU does it.
template <class Work>
void run_items_on_host(const Work &work, std::int64_t n)
{
  for (std::int64_t item = 0; item < n; ++item) work(item);
}

}    // namespace mlip_dd
