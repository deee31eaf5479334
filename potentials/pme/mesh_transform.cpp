#include "potentials/pme/mesh_transform.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/_fft_c2c.h>
#include <ATen/ops/_fft_c2r.h>
#include <ATen/ops/_fft_r2c.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/Device.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <sstream>

#include "base/timer.h"

namespace mlip_dd {

namespace {

using Complex = std::complex<double>;
constexpr std::int64_t kUnnormalised = 0;

// The k-th of `parts` nearly equal parts of [0, size).
void take_part(int size, int parts, int k, int &start, int &count)
{
  start = static_cast<int>(static_cast<std::int64_t>(size) * k / parts);
  count = static_cast<int>(static_cast<std::int64_t>(size) * (k + 1) / parts) - start;
}

at::IntArrayRef shape_of(const MeshBox &box, std::array<std::int64_t, 3> &shape)
{
  for (std::size_t a = 0; a < 3; ++a) shape[a] = box.count[a];
  return shape;
}

// On the CPU these are the values themselves, elsewhere a copy.
at::Tensor real_tensor(std::span<const double> values, const MeshBox &box,
                       at::Device device = at::kCPU)
{
  std::array<std::int64_t, 3> shape{};
  return at::from_blob(const_cast<double *>(values.data()), shape_of(box, shape), at::kDouble)
      .to(device);
}

at::Tensor complex_tensor(std::span<const Complex> values, const MeshBox &box,
                          at::Device device = at::kCPU)
{
  std::array<std::int64_t, 3> shape{};
  return at::from_blob(const_cast<Complex *>(values.data()), shape_of(box, shape),
                       at::kComplexDouble)
      .to(device);
}

at::Device device_of(int gpu)
{
  return gpu < 0 ? at::Device(at::kCPU) : at::Device(at::kCUDA, static_cast<at::DeviceIndex>(gpu));
}

void store(const at::Tensor &tensor, std::span<Complex> values, const MeshBox &box)
{
  complex_tensor(values, box).copy_(tensor);
}

std::span<const double> doubles(std::span<const Complex> values)
{
  return {reinterpret_cast<const double *>(values.data()), 2 * values.size()};
}
std::span<double> doubles(std::span<Complex> values)
{
  return {reinterpret_cast<double *>(values.data()), 2 * values.size()};
}

class ReplicatedTransform final : public MeshTransform {
 public:
  ReplicatedTransform(const MeshSize &mesh, Communicator &communicator, int gpu)
      : communicator_(communicator), device_(device_of(gpu))
  {
    points_.count = mesh;
    waves_.count = {mesh[0], mesh[1], mesh[2] / 2 + 1};
  }

  MeshBox points_of(int) const override { return points_; }

  void forward(std::span<const double> points, std::span<Complex> waves) override
  {
    const c10::InferenceMode no_autograd;
    std::span<const double> mesh = points;
    if (communicator_.size() > 1) {
      const Timer timer(traffic_.seconds);
      total_.assign(points.begin(), points.end());
      communicator_.sum(total_);
      mesh = total_;
      ++traffic_.messages_sent;
      traffic_.bytes_sent += static_cast<std::int64_t>(total_.size() * sizeof(double));
    }
    store(at::_fft_r2c(real_tensor(mesh, points_, device_), {0, 1, 2}, kUnnormalised,
                       /*onesided=*/true),
          waves, waves_);
  }

  void backward(std::span<const Complex> waves, std::span<double> points) override
  {
    const c10::InferenceMode no_autograd;
    real_tensor(points, points_)
        .copy_(at::_fft_c2r(complex_tensor(waves, waves_, device_), {0, 1, 2}, kUnnormalised,
                            points_.count[2]));
  }

  std::string description() const override
  {
    if (communicator_.size() == 1) return "one transform on one rank";
    return "mesh and transform replicated on each rank; each evaluation sums " +
           std::to_string(8 * points_.points()) + " bytes over all ranks";
  }

 private:
  Communicator &communicator_;
  at::Device device_;
  std::vector<double> total_;
};

// z and y, then x: the mesh in blocks of [part of x, part of y, all z], then of
// [part of x, all y, part of waves z], then of [all x, part of waves y, part of waves z].
class DistributedTransform final : public MeshTransform {
 public:
  DistributedTransform(const MeshSize &mesh, Communicator &communicator, int gpu)
      : communicator_(communicator),
        device_(device_of(gpu)),
        mesh_(mesh),
        grid_(choose_pencils(mesh, communicator.size()))
  {
    const int rank = communicator.rank();
    points_ = points_of(rank);
    after_z_ = after_z(rank);
    before_y_ = before_y(rank);
    waves_ = waves_of(rank);
    const std::array<int, 3> waves{mesh[0], mesh[1], mesh[2] / 2 + 1};
    std::vector<RankBox> stages[3];
    for (int other = 0; other < grid_.ranks(); ++other) {
      stages[0].push_back({other, after_z(other)});
      stages[1].push_back({other, before_y(other)});
      stages[2].push_back({other, waves_of(other)});
    }
    if (grid_.columns > 1)
      to_y_ = BoxExchange(rank, waves, after_z_, stages[1], before_y_, stages[0]);
    to_x_ = BoxExchange(rank, waves, before_y_, stages[2], waves_, stages[1]);
    z_.resize(static_cast<std::size_t>(after_z_.points()));
    y_.resize(static_cast<std::size_t>(before_y_.points()));
    x_.resize(static_cast<std::size_t>(waves_.points()));
  }

  MeshBox points_of(int rank) const override
  {
    MeshBox box;
    if (rank >= grid_.ranks()) return box;
    take_part(mesh_[0], grid_.rows, rank / grid_.columns, box.start[0], box.count[0]);
    take_part(mesh_[1], grid_.columns, rank % grid_.columns, box.start[1], box.count[1]);
    box.count[2] = mesh_[2];
    return box;
  }

  void forward(std::span<const double> points, std::span<Complex> waves) override
  {
    const c10::InferenceMode no_autograd;
    if (points_.points() > 0) {
      const at::Tensor mesh = real_tensor(points, points_, device_);
      if (grid_.columns == 1)
        store(at::_fft_r2c(mesh, {1, 2}, kUnnormalised, true), y_, before_y_);
      else
        store(at::_fft_r2c(mesh, {2}, kUnnormalised, true), z_, after_z_);
    }
    if (grid_.columns > 1) {
      to_y_.move(communicator_, 2, doubles(std::span<const Complex>(z_)), doubles(std::span(y_)),
                 traffic_);
      if (before_y_.points() > 0)
        store(at::_fft_c2c(complex_tensor(y_, before_y_, device_), {1}, kUnnormalised, true), y_,
              before_y_);
    }
    to_x_.move(communicator_, 2, doubles(std::span<const Complex>(y_)), doubles(std::span(x_)),
               traffic_);
    if (waves_.points() > 0)
      store(at::_fft_c2c(complex_tensor(x_, waves_, device_), {0}, kUnnormalised, true), waves,
            waves_);
  }

  void backward(std::span<const Complex> waves, std::span<double> points) override
  {
    const c10::InferenceMode no_autograd;
    if (waves_.points() > 0)
      store(at::_fft_c2c(complex_tensor(waves, waves_, device_), {0}, kUnnormalised, false), x_,
            waves_);
    to_x_.give_back(communicator_, 2, doubles(std::span<const Complex>(x_)), doubles(std::span(y_)),
                    traffic_);
    if (grid_.columns > 1) {
      if (before_y_.points() > 0)
        store(at::_fft_c2c(complex_tensor(y_, before_y_, device_), {1}, kUnnormalised, false), y_,
              before_y_);
      to_y_.give_back(communicator_, 2, doubles(std::span<const Complex>(y_)),
                      doubles(std::span(z_)), traffic_);
    }
    if (points_.points() == 0) return;
    if (grid_.columns == 1)
      real_tensor(points, points_)
          .copy_(at::_fft_c2r(complex_tensor(y_, before_y_, device_), {1, 2}, kUnnormalised,
                              mesh_[2]));
    else
      real_tensor(points, points_)
          .copy_(at::_fft_c2r(complex_tensor(z_, after_z_, device_), {2}, kUnnormalised, mesh_[2]));
  }

  std::string description() const override
  {
    std::ostringstream text;
    text << "mesh and transform in ";
    if (grid_.columns == 1)
      text << grid_.rows << " slabs";
    else
      text << grid_.rows << " x " << grid_.columns << " pencils";
    text << " on " << communicator_.size() << " ranks; each transposition moves "
         << 16 * static_cast<std::int64_t>(mesh_[0]) * mesh_[1] * (mesh_[2] / 2 + 1) / grid_.ranks()
         << " bytes per rank, each evaluation makes " << (grid_.columns == 1 ? 2 : 4);
    return text.str();
  }

 private:
  MeshBox after_z(int rank) const
  {
    MeshBox box = points_of(rank);
    if (box.points() > 0) box.count[2] = mesh_[2] / 2 + 1;
    return box;
  }

  MeshBox before_y(int rank) const
  {
    MeshBox box = points_of(rank);
    if (rank >= grid_.ranks()) return box;
    box.start[1] = 0;
    box.count[1] = mesh_[1];
    take_part(mesh_[2] / 2 + 1, grid_.columns, rank % grid_.columns, box.start[2], box.count[2]);
    return box;
  }

  MeshBox waves_of(int rank) const
  {
    MeshBox box = before_y(rank);
    if (rank >= grid_.ranks()) return box;
    box.start[0] = 0;
    box.count[0] = mesh_[0];
    take_part(mesh_[1], grid_.rows, rank / grid_.columns, box.start[1], box.count[1]);
    return box;
  }

  Communicator &communicator_;
  at::Device device_;
  MeshSize mesh_;
  PencilGrid grid_;
  MeshBox after_z_, before_y_;
  BoxExchange to_y_, to_x_;
  std::vector<Complex> z_, y_, x_;
};

}    // namespace

PencilGrid choose_pencils(const MeshSize &mesh, int ranks)
{
  const int most_rows = std::min(mesh[0], mesh[1]);
  const int most_columns = std::min(mesh[1], mesh[2] / 2 + 1);
  PencilGrid best;
  for (int columns = 1; columns <= std::min(most_columns, ranks); ++columns) {
    const PencilGrid grid{std::min(most_rows, ranks / columns), columns};
    if (grid.ranks() > best.ranks()) best = grid;
  }
  return best;
}

std::unique_ptr<MeshTransform> make_distributed_transform(const MeshSize &mesh,
                                                          Communicator &communicator, int gpu)
{
  return std::make_unique<DistributedTransform>(mesh, communicator, gpu);
}

std::unique_ptr<MeshTransform> make_replicated_transform(const MeshSize &mesh,
                                                         Communicator &communicator, int gpu)
{
  return std::make_unique<ReplicatedTransform>(mesh, communicator, gpu);
}

}    // namespace mlip_dd
