// If these fail, a mesh shared by ranks has other Fourier components than one mesh, for some number
// of ranks or size of mesh.
#include <ATen/ops/_fft_r2c.h>
#include <ATen/ops/from_blob.h>

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

TEST_CASE("distributed transforms")
{
  const MeshSize size = GENERATE(MeshSize{8, 9, 10}, MeshSize{6, 5, 7}, MeshSize{4, 4, 4});
  const int ranks = GENERATE(1, 2, 3, 5, 8, 13, 27);
  CAPTURE(size, ranks);
  const std::vector<double> mesh = random_mesh(size);
  const std::vector<Complex> expected = whole_transform(size, mesh);
  const MeshSize wave_size{size[0], size[1], size[2] / 2 + 1};
  std::vector<int> seen(expected.size(), 0);
  double forward_error = 0.0, backward_error = 0.0;
  std::mutex guard;
  run_virtual_ranks(ranks, [&](Communicator &communicator) {
    const auto transform = make_distributed_transform(size, communicator);
    std::vector<double> points(static_cast<std::size_t>(transform->points().points()));
    std::vector<Complex> waves(static_cast<std::size_t>(transform->waves().points()));
    for_each(transform->points(), size,
             [&](std::size_t mine, std::size_t whole) { points[mine] = mesh[whole]; });
    transform->forward(points, waves);
    std::vector<double> back(points.size());
    transform->backward(waves, back);
    const std::lock_guard lock(guard);
    for_each(transform->waves(), wave_size, [&](std::size_t mine, std::size_t whole) {
      ++seen[whole];
      forward_error = std::max(forward_error, std::abs(waves[mine] - expected[whole]));
    });
    const double scale = 1.0 / (size[0] * size[1] * size[2]);
    for (std::size_t i = 0; i < back.size(); ++i)
      backward_error = std::max(backward_error, std::abs(scale * back[i] - points[i]));
  });
  CHECK(std::all_of(seen.begin(), seen.end(), [](int count) { return count == 1; }));
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
