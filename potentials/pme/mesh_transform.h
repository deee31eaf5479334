// Fourier transforms of a mesh that ranks share: distributed in slabs or pencils, or replicated.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "halo/traffic.h"
#include "potentials/pme/box_exchange.h"
#include "potentials/pme/mesh_size.h"

namespace mlip_dd {

// Ranks that hold blocks, as a grid over the first two axes: rank i * columns + j holds the i-th
// part of x and the j-th of y; ranks beyond the grid hold none. One column: slabs.
struct PencilGrid {
  int rows = 1;
  int columns = 1;
  int ranks() const { return rows * columns; }
};

// Slabs while each rank can have one of x and of y, else the grid that occupies most ranks.
PencilGrid choose_pencils(const MeshSize &mesh, int ranks);

// The waves of a real mesh: index m_z in [0, K_z / 2] alone is kept.
class MeshTransform {
 public:
  virtual ~MeshTransform() = default;

  // Points of the mesh that this rank holds before forward() and after backward(); none perhaps.
  const MeshBox &points() const { return points_; }
  // Waves that it holds in between.
  const MeshBox &waves() const { return waves_; }
  // The box of points of any rank.
  virtual MeshBox points_of(int rank) const = 0;

  // Collective. points() -> waves(): sum over points of value exp(-2 pi i m p / K).
  virtual void forward(std::span<const double> points, std::span<std::complex<double>> waves) = 0;
  // Collective. waves() -> points(): sum over waves of value exp(2 pi i m p / K), not normalised.
  virtual void backward(std::span<const std::complex<double>> waves, std::span<double> points) = 0;

  virtual std::string description() const = 0;
  const Traffic &traffic() const { return traffic_; }

 protected:
  MeshBox points_, waves_;
  Traffic traffic_;
};

// Keeps a reference to `communicator`. `gpu`: index of the GPU that transforms, or -1: the CPU;
// what goes in, comes out and travels lies with the CPU.
std::unique_ptr<MeshTransform> make_distributed_transform(const MeshSize &mesh,
                                                          Communicator &communicator, int gpu = -1);

// Every rank holds the whole mesh: forward() sums the ranks' meshes first, and all get all waves.
std::unique_ptr<MeshTransform> make_replicated_transform(const MeshSize &mesh,
                                                         Communicator &communicator, int gpu = -1);

}    // namespace mlip_dd
