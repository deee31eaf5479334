#include "potentials/pme/mesh_transform.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/_fft_c2c.h>
#include <ATen/ops/_fft_c2r.h>
#include <ATen/ops/_fft_r2c.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/Device.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "base/timer.h"

namespace mlip_dd {

namespace {

using Complex = std::complex<double>;
constexpr std::int64_t kUnnormalised = 0;
// A CPU takes so much of a mesh at a time: its transforms stay in the cache of one core.
constexpr std::int64_t kBlockBytes = 1 << 18;

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

// These are the values themselves.
at::Tensor real_tensor(std::span<double> values, const MeshBox &box)
{
  std::array<std::int64_t, 3> shape{};
  return at::from_blob(values.data(), shape_of(box, shape), at::kDouble);
}

at::Tensor complex_tensor(std::span<Complex> values, const MeshBox &box)
{
  std::array<std::int64_t, 3> shape{};
  return at::from_blob(values.data(), shape_of(box, shape), at::kComplexDouble);
}

at::Device device_of(int gpu)
{
  return gpu < 0 ? at::Device(at::kCPU) : at::Device(at::kCUDA, static_cast<at::DeviceIndex>(gpu));
}

std::span<const double> doubles(std::span<const Complex> values)
{
  return {reinterpret_cast<const double *>(values.data()), 2 * values.size()};
}
std::span<double> doubles(std::span<Complex> values)
{
  return {reinterpret_cast<double *>(values.data()), 2 * values.size()};
}

// to[k * stride + i] = from[i * columns + k] for `rows` i: tiles of both stay in the nearest cache.
void transpose(const Complex *from, std::int64_t rows, std::int64_t columns, Complex *to,
               std::int64_t stride)
{
  constexpr std::int64_t kTile = 16;
  for (std::int64_t i = 0; i < rows; i += kTile)
    for (std::int64_t k = 0; k < columns; k += kTile)
      for (std::int64_t m = k; m < std::min(k + kTile, columns); ++m)
        for (std::int64_t l = i; l < std::min(i + kTile, rows); ++l)
          to[m * stride + l] = from[l * columns + m];
}

// z and y, then x: the mesh in blocks of [part of x, part of y, all z], then of
// [part of x, all y, part of waves z], then of [all x, part of waves y, part of waves z].
class SharedTransform final : public MeshTransform {
 public:
  SharedTransform(const MeshSize &mesh, MeshSharing sharing, Communicator &communicator, int gpu)
      : communicator_(communicator),
        device_(device_of(gpu)),
        mesh_(mesh),
        replicated_(sharing == MeshSharing::replicated && communicator.size() > 1),
        grid_(replicated_ ? PencilGrid() : choose_pencils(mesh, communicator.size()))
  {
    const int rank = replicated_ ? 0 : communicator.rank();
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
    if (grid_.columns > 1) {
      to_y_ = BoxExchange(rank, waves, after_z_, stages[1], before_y_, stages[0]);
      z_.resize(static_cast<std::size_t>(after_z_.points()));
    }
    y_.resize(static_cast<std::size_t>(before_y_.points()));
    if (grid_.ranks() > 1) {
      to_x_ = BoxExchange(rank, waves, before_y_, stages[2], waves_, stages[1]);
      x_.resize(static_cast<std::size_t>(waves_.points()));
    }
  }

  MeshBox points() const override { return points_; }
  MeshBox points_of(int rank) const override
  {
    MeshBox box;
    if (replicated_) rank = 0;
    if (rank >= grid_.ranks()) return box;
    take_part(mesh_[0], grid_.rows, rank / grid_.columns, box.start[0], box.count[0]);
    take_part(mesh_[1], grid_.columns, rank % grid_.columns, box.start[1], box.count[1]);
    box.count[2] = mesh_[2];
    return box;
  }
  std::int64_t waves() const override { return waves_.points(); }
  int blocks() const override { return parts_of(waves_, 1); }

  void convolve(std::span<double> points, const WaveWork &work) override
  {
    if (replicated_) {
      const Timer timer(traffic_.seconds);
      communicator_.sum(points);
      ++traffic_.messages_sent;
      traffic_.bytes_sent += static_cast<std::int64_t>(points.size_bytes());
    }
    points_to_waves(points);
    if (grid_.columns > 1) {
      to_y_.move(communicator_, 2, doubles(std::span<const Complex>(z_)), doubles(std::span(y_)),
                 traffic_);
      transform_y(true);
    }
    if (grid_.ranks() > 1)
      to_x_.move(communicator_, 2, doubles(std::span<const Complex>(y_)), doubles(std::span(x_)),
                 traffic_);
    work_on_panels(work, true);
    leave_waves(points);
  }

  void backward(const WaveWork &work, std::span<double> points) override
  {
    work_on_panels(work, false);
    leave_waves(points);
  }

  std::string description() const override
  {
    if (communicator_.size() == 1) return "one transform on one rank";
    if (replicated_)
      return "mesh and transform replicated on each rank; each evaluation sums " +
             std::to_string(8 * points_.points()) + " bytes over all ranks";
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

  const Traffic &traffic() const override { return traffic_; }

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

  // How many along an axis of `box` are transformed together.
  int part_of(const MeshBox &box, std::size_t axis) const
  {
    const int all = box.count[axis];
    if (!device_.is_cpu()) return all;
    const std::int64_t bytes = box.points() / all * static_cast<std::int64_t>(sizeof(Complex));
    return static_cast<int>(std::clamp<std::int64_t>(kBlockBytes / bytes, 1, all));
  }

  int parts_of(const MeshBox &box, std::size_t axis) const
  {
    if (box.points() == 0) return 0;
    const int count = part_of(box, axis);
    return (box.count[axis] + count - 1) / count;
  }

  // Calls body(part, first, count) for all of them.
  template <class Body>
  void for_each_part(const MeshBox &box, std::size_t axis, const Body &body) const
  {
    if (box.points() == 0) return;
    const int count = part_of(box, axis);
    at::parallel_for(0, parts_of(box, axis), 1, [&](std::int64_t begin, std::int64_t end) {
      const c10::InferenceMode no_autograd;    // a thread has its own
      for (int part = static_cast<int>(begin); part < end; ++part)
        body(part, part * count, std::min(count, box.count[axis] - part * count));
    });
  }

  // z, and y too where all of it is here.
  void points_to_waves(std::span<double> points)
  {
    const bool slabs = grid_.columns == 1;
    for_each_part(after_z_, 0, [&](int, int first, int count) {
      const at::Tensor part = real_tensor(points, points_).narrow(0, first, count).to(device_);
      complex_tensor(slabs ? y_ : z_, after_z_)
          .narrow(0, first, count)
          .copy_(slabs ? at::_fft_r2c(part, {1, 2}, kUnnormalised, /*onesided=*/true)
                       : at::_fft_r2c(part, {2}, kUnnormalised, /*onesided=*/true));
    });
  }

  void waves_to_points(std::span<double> points)
  {
    const bool slabs = grid_.columns == 1;
    for_each_part(after_z_, 0, [&](int, int first, int count) {
      const at::Tensor part =
          complex_tensor(slabs ? y_ : z_, after_z_).narrow(0, first, count).to(device_);
      real_tensor(points, points_)
          .narrow(0, first, count)
          .copy_(slabs ? at::_fft_c2r(part, {1, 2}, kUnnormalised, mesh_[2])
                       : at::_fft_c2r(part, {2}, kUnnormalised, mesh_[2]));
    });
  }

  void transform_y(bool forward)
  {
    for_each_part(before_y_, 0, [&](int, int first, int count) {
      const at::Tensor part = complex_tensor(y_, before_y_).narrow(0, first, count);
      part.copy_(at::_fft_c2c(part.to(device_), {1}, kUnnormalised, forward));
    });
  }

  // All that is done along x, for a few y at a time: there, work, and back.
  void work_on_panels(const WaveWork &work, bool forward)
  {
    std::vector<Complex> &values = grid_.ranks() > 1 ? x_ : y_;
    const at::Tensor all = complex_tensor(values, waves_);
    const std::int64_t lines = waves_.count[2], stride = waves_.count[1] * lines;
    for_each_part(waves_, 1, [&](int part, int first, int count) {
      const at::Tensor panel = all.narrow(1, first, count);
      const at::Tensor waves = forward ? waves_of_panel(panel) : empty_waves(count);
      WaveBlock block;
      block.box = waves_;
      block.box.start[1] += first;
      block.box.count[1] = count;
      block.index = part;
      block.first = first * lines * waves_.count[0];
      block.values = {reinterpret_cast<Complex *>(waves.data_ptr()),
                      static_cast<std::size_t>(waves.numel())};
      work(block);
      const at::Tensor back =
          at::_fft_c2c(waves.to(device_), {2}, kUnnormalised, /*forward=*/false).cpu().contiguous();
      transpose(reinterpret_cast<const Complex *>(back.const_data_ptr()), count * lines,
                waves_.count[0], values.data() + first * lines, stride);
    });
  }

  // [x, y, z] -> [y, z, x] on the CPU. Gathered first: lines along x lie far apart in the mesh.
  at::Tensor waves_of_panel(const at::Tensor &panel) const
  {
    return at::_fft_c2c(panel.contiguous().to(device_), {0}, kUnnormalised, /*forward=*/true)
        .permute({1, 2, 0})
        .contiguous()
        .cpu();
  }

  at::Tensor empty_waves(int count) const
  {
    return at::empty({count, waves_.count[2], waves_.count[0]}, at::kComplexDouble);
  }

  // Collective.
  void leave_waves(std::span<double> points)
  {
    if (grid_.ranks() > 1)
      to_x_.give_back(communicator_, 2, doubles(std::span<const Complex>(x_)),
                      doubles(std::span(y_)), traffic_);
    if (grid_.columns > 1) {
      transform_y(false);
      to_y_.give_back(communicator_, 2, doubles(std::span<const Complex>(y_)),
                      doubles(std::span(z_)), traffic_);
    }
    waves_to_points(points);
  }

  Communicator &communicator_;
  at::Device device_;
  MeshSize mesh_;
  bool replicated_;
  PencilGrid grid_;
  MeshBox points_, after_z_, before_y_, waves_;
  BoxExchange to_y_, to_x_;
  std::vector<Complex> z_, y_, x_;    // z_ of pencils, x_ where waves are on several ranks
  Traffic traffic_;
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

std::unique_ptr<MeshTransform> make_mesh_transform(const MeshSize &mesh, MeshSharing sharing,
                                                   Communicator &communicator, int gpu)
{
  return std::make_unique<SharedTransform>(mesh, sharing, communicator, gpu);
}

}    // namespace mlip_dd
