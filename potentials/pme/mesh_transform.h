// Fourier transforms of a mesh that ranks share: distributed in slabs or pencils, or replicated.
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "comm/communicator.h"
#include "halo/traffic.h"
#include "potentials/pme/box_exchange.h"
#include "potentials/pme/mesh_size.h"

namespace mlip_dd {

enum class MeshSharing { replicated, distributed };

// Ranks that hold blocks, as a grid over the first two axes: rank i * columns + j holds the i-th
// part of x and the j-th of y; ranks beyond the grid hold none. One column: slabs.
struct PencilGrid {
  int rows = 1;
  int columns = 1;
  int ranks() const { return rows * columns; }
};

// Slabs while each rank can have one of x and of y, else the grid that occupies most ranks.
PencilGrid choose_pencils(const MeshSize &mesh, int ranks);

// Some of the waves of a real mesh that a rank holds: for a few (y, z) all x. Of z, the indices in
// [0, K_z / 2] alone are kept.
struct WaveBlock {
  MeshBox box;
  int index = 0;             // in [0, blocks)
  std::int64_t first = 0;    // of these values among all of the rank, block after block
  std::span<std::complex<double>> values;    // [y, z, x]
};
// Called for the same blocks in each transform, by several threads in any order. Must not throw.
using WaveWork = std::function<void(const WaveBlock &)>;

class MeshTransform {
 public:
  virtual ~MeshTransform() = default;

  // Points of the mesh that this rank holds; none perhaps.
  virtual MeshBox points() const = 0;
  virtual MeshBox points_of(int rank) const = 0;
  // Numbers of waves that it holds, and of blocks that they come in.
  virtual std::int64_t waves() const = 0;
  virtual int blocks() const = 0;

  // Collective, also for ranks that hold nothing: their `points` are empty and `work` is not
  // called. `points`, row-major in points(), become their waves, sum over points of value
  // exp(-2 pi i m p / K); `work` changes these in place, and they become points again: sum over
  // waves of value exp(2 pi i m p / K), not normalised.
  virtual void convolve(std::span<double> points, const WaveWork &work) = 0;
  // Collective. The second half of that: `work` sets all values.
  virtual void backward(const WaveWork &work, std::span<double> points) = 0;

  virtual std::string description() const = 0;
  virtual const Traffic &traffic() const = 0;
};

// Keeps a reference to `communicator`. Replicated: every rank holds the whole mesh, convolve() sums
// the ranks' meshes first, and all get all waves. On the CPU as many threads work as the tensor
// library is set to; with `gpu` >= 0 that GPU transforms, and what goes in, comes out and travels
// lies with the CPU.
std::unique_ptr<MeshTransform> make_mesh_transform(const MeshSize &mesh, MeshSharing sharing,
                                                   Communicator &communicator, int gpu = -1);

}    // namespace mlip_dd
