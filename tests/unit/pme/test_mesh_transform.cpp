// If these fail, a mesh shared by ranks has other Fourier components than one mesh, for some number
// of ranks or size of mesh.
#include <ATen/ops/_fft_r2c.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <mutex>
#include <random>

#include "catch.h"
#include "comm/thread_communicator.h"
#include "potentials/pme/mesh_transform.h"

using namespace mlip_dd;

namespace {

using Complex = std::complex<double>;
constexpr double kRounding = 1e-11;    // sums of a thousand terms of order one

std::vector<double> random_mesh(const MeshSize &size)
{
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  std::vector<double> mesh(static_cast<std::size_t>(size[0] * size[1] * size[2]));
  for (double &x : mesh) x = value(random);
  return mesh;
}

std::vector<Complex> whole_transform(const MeshSize &size, std::vector<double> mesh)
{
  const at::Tensor result = at::_fft_r2c(
      at::from_blob(mesh.data(), {size[0], size[1], size[2]}, at::kDouble), {0, 1, 2}, 0, true);
  const at::Tensor flat = result.contiguous();
  const auto *data = reinterpret_cast<const Complex *>(flat.data_ptr());
  return {data, data + flat.numel()};
}

// body(place in a row-major array of the box, place in one of the whole mesh)
template <class Body>
void for_each(const MeshBox &box, const MeshSize &size, Body body)
{
  std::size_t place = 0;
  for (int x = 0; x < box.count[0]; ++x)
    for (int y = 0; y < box.count[1]; ++y)
      for (int z = 0; z < box.count[2]; ++z)
        body(place++,
             static_cast<std::size_t>(((box.start[0] + x) * size[1] + box.start[1] + y) * size[2] +
                                      box.start[2] + z));
}

}    // namespace

TEST_CASE("shared transforms")
{
  const auto sharing = GENERATE(MeshSharing::distributed, MeshSharing::replicated);
  // The last two are transformed in several parts, of slabs and (on 13 ranks) of pencils.
  const MeshSize size = GENERATE(MeshSize{8, 9, 10}, MeshSize{6, 5, 7}, MeshSize{4, 4, 4},
                                 MeshSize{48, 50, 60}, MeshSize{5, 200, 400});
  const int ranks = GENERATE(1, 2, 3, 5, 8, 13, 27);
  CAPTURE(size, ranks, sharing == MeshSharing::replicated);
  const std::vector<double> mesh = random_mesh(size);
  const std::vector<Complex> expected = whole_transform(size, mesh);
  const MeshSize wave_size{size[0], size[1], size[2] / 2 + 1};
  std::vector<int> seen(expected.size(), 0);
  double forward_error = 0.0, backward_error = 0.0;
  std::mutex guard;
  run_virtual_ranks(ranks, [&](Communicator &communicator) {
    const auto transform = make_mesh_transform(size, sharing, communicator);
    std::vector<double> points(static_cast<std::size_t>(transform->points().points()));
    for_each(transform->points(), size,
             [&](std::size_t mine, std::size_t whole) { points[mine] = mesh[whole]; });
    // The sum over ranks of what is replicated is the mesh, too.
    const bool replicated = sharing == MeshSharing::replicated;
    std::vector<double> back = points, filled(points.size());
    if (replicated)
      for (double &value : back) value /= ranks;
    std::vector<Complex> kept(static_cast<std::size_t>(transform->waves()));
    transform->convolve(back, [&](const WaveBlock &block) {
      std::copy(block.values.begin(), block.values.end(), kept.begin() + block.first);
      const std::lock_guard lock(guard);
      for_each(block.box, wave_size, [&](std::size_t mine, std::size_t whole) {
        // Row-major [x, y, z] in `mine`, [y, z, x] in the block.
        const std::size_t lines = static_cast<std::size_t>(block.box.count[1]) *
                                  static_cast<std::size_t>(block.box.count[2]);
        const Complex value =
            block
                .values[mine % lines * static_cast<std::size_t>(block.box.count[0]) + mine / lines];
        ++seen[whole];
        forward_error = std::max(forward_error, std::abs(value - expected[whole]));
      });
    });
    transform->backward(
        [&](const WaveBlock &block) {
          std::copy_n(kept.begin() + block.first, block.values.size(), block.values.begin());
        },
        filled);
    const std::lock_guard lock(guard);
    const double scale = 1.0 / (size[0] * size[1] * size[2]);
    for (std::size_t i = 0; i < back.size(); ++i)
      for (const double value : {back[i], filled[i]})
        backward_error = std::max(backward_error, std::abs(scale * value - points[i]));
  });
  const int times = sharing == MeshSharing::replicated ? ranks : 1;
  CHECK(std::all_of(seen.begin(), seen.end(), [&](int count) { return count == times; }));
  CHECK(forward_error < kRounding);
  CHECK(backward_error < kRounding);
}

TEST_CASE("slabs while there are planes, pencils beyond")
{
  CHECK(choose_pencils({32, 32, 32}, 1).ranks() == 1);
  CHECK(choose_pencils({32, 32, 32}, 32).columns == 1);
  CHECK(choose_pencils({32, 32, 32}, 32).rows == 32);
  CHECK(choose_pencils({32, 32, 32}, 64).columns == 2);
  CHECK(choose_pencils({32, 32, 32}, 64).ranks() == 64);
  CHECK(choose_pencils({4, 4, 4}, 1000).ranks() == 12);    // 4 rows, 3 columns of waves
}
