#include "potentials/pme/mesh_convolution.h"

#include <ATen/ATen.h>

#include <cstddef>
#include <vector>

#include "base/constants.h"
#include "potentials/pair/run_lanes.h"
#include "potentials/pme/splines.h"

namespace mlip_dd {

namespace {

constexpr std::int64_t kUnnormalised = 0;

double *parts_of(const at::Tensor &waves)
{
  return reinterpret_cast<double *>(waves.mutable_data_ptr<c10::complex<double>>());
}

}    // namespace

void MeshConvolution::set_mesh(const MeshSize &mesh, int order)
{
  std::vector<double> moduli;
  for (std::size_t a = 0; a < 3; ++a) {
    grid_.mesh[a] = mesh[a];
    const std::vector<double> along = spline_moduli(mesh[a], order);
    moduli.insert(moduli.end(), along.begin(), along.end());
  }
  moduli_ = at::tensor(moduli, at::kDouble).to(device_);
}

void MeshConvolution::convolve(const Lattice &lattice, double alpha, double constant,
                               const at::Tensor &mesh, const at::Tensor &virial)
{
  constexpr std::int64_t kEnergy = offsetof(LaneSums, energy) / sizeof(double);
  constexpr std::int64_t kMoment = offsetof(LaneSums, moment) / sizeof(double);
  set_reciprocal(lattice, grid_);
  grid_.decay = 0.25 / (alpha * alpha);
  waves_ = at::_fft_r2c(mesh.view({grid_.mesh[0], grid_.mesh[1], grid_.mesh[2]}), {0, 1, 2},
                        kUnnormalised, /*onesided=*/true)
               .contiguous();
  const MeshWaveLanes work{grid_, 4.0 * kPi * constant / lattice.volume,
                           moduli_.const_data_ptr<double>(), parts_of(waves_)};
  const at::Tensor total = run_lanes(work, grid_.rows(), device_).sum(0);
  std::vector<at::Tensor> components;
  for (int k = 0; k < 9; ++k) {
    const at::Tensor less = total.select(0, kMoment + moment_place(k));
    components.push_back(k % 4 == 0 ? total.select(0, kEnergy).sub(less) : less.neg());
  }
  virial.add_(at::stack(components));
  to_points(waves_, mesh);
}

void MeshConvolution::strain(int a, int b, const at::Tensor &mesh) const
{
  const at::Tensor strained = at::empty_like(waves_);
  run_items(StrainItems{grid_, a, b, parts_of(waves_), parts_of(strained)}, waves_.numel(),
            device_);
  to_points(strained, mesh);
}

void MeshConvolution::to_points(const at::Tensor &waves, const at::Tensor &mesh) const
{
  mesh.copy_(at::_fft_c2r(waves, {0, 1, 2}, kUnnormalised, grid_.mesh[2]).reshape({-1}));
}

}    // namespace mlip_dd
