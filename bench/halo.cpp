// Bytes per second of packing rows for messages and of adding received rows into their owners,
// against a plain copy of as many bytes, on the CPU and, where there is one, on a GPU; all in one
// run. Usage: mlip_dd_bench_halo [rows owned by a rank, default 20000]
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/cuda.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "halo/row_kernels.h"

namespace {

using namespace mlip_dd;

constexpr int kRepeats = 15;
constexpr int kNeighbours = 6;         // ranks that hold copies
constexpr double kHeldByEach = 0.3;    // of a rank's rows

void wait_for(const at::Device &device)
{
  if (!device.is_cuda()) return;
  const c10::impl::VirtualGuardImpl gpu(at::kCUDA);
  gpu.synchronizeDevice(device.index());
}

// Median seconds of one call, after two that warm up.
double seconds(const at::Device &device, const std::function<void()> &work)
{
  std::vector<double> times;
  for (int k = 0; k < kRepeats + 2; ++k) {
    wait_for(device);
    const auto start = std::chrono::steady_clock::now();
    work();
    wait_for(device);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (k >= 2) times.push_back(time.count());
  }
  std::nth_element(times.begin(), times.begin() + kRepeats / 2, times.end());
  return times[kRepeats / 2];
}

// Copies of rows as several neighbours hold them: ascending for each neighbour.
struct Copies {
  at::Tensor rows;
  SegmentIndex sums;
};

Copies draw_copies(std::int64_t owned)
{
  std::mt19937_64 random(1);
  std::bernoulli_distribution held(kHeldByEach);
  std::vector<std::int64_t> rows;
  for (int neighbour = 0; neighbour < kNeighbours; ++neighbour)
    for (std::int64_t row = 0; row < owned; ++row)
      if (held(random)) rows.push_back(row);
  std::vector<std::int64_t> entries(rows.size()), sum_rows, offsets{0};
  std::iota(entries.begin(), entries.end(), std::int64_t{0});
  std::stable_sort(entries.begin(), entries.end(), [&](std::int64_t a, std::int64_t b) {
    return rows[static_cast<std::size_t>(a)] < rows[static_cast<std::size_t>(b)];
  });
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const std::int64_t row = rows[static_cast<std::size_t>(entries[k])];
    if (sum_rows.empty() || sum_rows.back() != row) {
      sum_rows.push_back(row);
      offsets.push_back(offsets.back());
    }
    ++offsets.back();
  }
  const auto tensor = [](const std::vector<std::int64_t> &values) {
    return at::tensor(values, at::kLong);
  };
  return {tensor(rows), {tensor(sum_rows), tensor(offsets), tensor(entries)}};
}

void measure(const at::Device &device, std::int64_t owned, const Copies &copies,
             at::ScalarType dtype, std::int64_t width)
{
  const auto options = at::TensorOptions().dtype(dtype).device(device);
  const at::Tensor source = at::rand({owned, width}, options);
  const at::Tensor rows = copies.rows.to(device);
  const SegmentIndex sums{copies.sums.rows.to(device), copies.sums.offsets.to(device),
                          copies.sums.entries.to(device)};
  const std::int64_t held = rows.numel();
  at::Tensor packed = at::empty({held, width}, options), target = source.clone();
  const at::Tensor received = at::rand({held, width}, options);

  // Packing reads and writes each copy; a plain copy does the same.
  const double row_bytes = static_cast<double>(width * source.element_size());
  const double pack_bytes = 2.0 * row_bytes * static_cast<double>(held);
  // The sum reads each copy, and reads and writes each row that receives any.
  const double sum_bytes = row_bytes * static_cast<double>(held + 2 * copies.sums.rows.numel());
  const auto copied = [&](double bytes) {
    const auto count =
        static_cast<std::int64_t>(bytes / 2.0 / static_cast<double>(source.element_size()));
    const at::Tensor from = at::rand({count}, options);
    at::Tensor to = at::empty_like(from);
    return bytes / seconds(device, [&] { to.copy_(from); });
  };
  const double pack = pack_bytes / seconds(device, [&] { pack_rows(source, rows, packed); });
  const double sum = sum_bytes / seconds(device, [&] { add_segments(target, received, sums); });
  const double pack_copy = copied(pack_bytes), sum_copy = copied(sum_bytes);
  std::printf("%-7s %-9s %6ld %10.1f %10.2f %6.2f %10.1f %10.2f %6.2f\n", device.str().c_str(),
              toString(dtype), static_cast<long>(width), pack_bytes / 1e6, pack / 1e9,
              pack / pack_copy, sum_bytes / 1e6, sum / 1e9, sum / sum_copy);
}

}    // namespace

int main(int argc, char **argv)
{
  const std::int64_t owned = argc > 1 ? std::atoll(argv[1]) : 20000;
  if (owned < 1) {
    std::fprintf(stderr, "usage: mlip_dd_bench_halo [rows owned by a rank]\n");
    return 2;
  }
  at::set_num_threads(1);
  const Copies copies = draw_copies(owned);
  std::printf(
      "%ld owned rows, %ld copies with %d neighbours; ratio: over a plain copy of as many "
      "bytes\n%-7s %-9s %6s %10s %10s %6s %10s %10s %6s\n",
      static_cast<long>(owned), static_cast<long>(copies.rows.numel()), kNeighbours, "device",
      "dtype", "width", "pack MB", "GB/s", "ratio", "sum MB", "GB/s", "ratio");
  std::vector<at::Device> devices{at::Device(at::kCPU)};
  if (torch::cuda::is_available()) devices.emplace_back(at::kCUDA, 0);
  for (const at::Device &device : devices)
    for (const at::ScalarType dtype : {at::kFloat, at::kDouble})
      for (const std::int64_t width : {1, 3, 32, 128, 480})
        measure(device, owned, copies, dtype, width);
  return 0;
}
