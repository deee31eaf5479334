// If these fail, rows of a GPU arrive before they are packed, are read before they have arrived, or
// differ by the way they took: results change from run to run.
#include <ATen/ATen.h>
#include <ATen/core/CachingHostAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <random>

#include "base/error.h"
#include "catch.h"
#include "comm/thread_communicator.h"
#include "halo/halo_exchange.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr int kRanks = 4;
constexpr std::int64_t kOwned = 2000;    // enough work that a missing wait shows
const at::Device kGpu(at::kCUDA, 0);

void require(bool condition, const char *what)
{
  if (!condition) throw std::runtime_error(what);
}

HaloPlan random_plan(Communicator &communicator)
{
  std::mt19937_64 random(run_seed() + static_cast<unsigned>(communicator.rank()));
  std::bernoulli_distribution coin(0.3);
  std::vector<RowOwner> wishes;
  for (int rank = 0; rank < kRanks; ++rank)
    for (std::int64_t row = 0; rank != communicator.rank() && row < kOwned; ++row)
      if (coin(random)) wishes.push_back({rank, row});
  std::vector<std::int64_t> rows(wishes.size());
  return build_halo_plan(communicator, kOwned, wishes, rows);
}

// Ranks of one process whose messages may lie in GPU memory: what an MPI with GPU support does. As
// there, nobody waits for work that was enqueued before: the copies run on a stream of their own.
class GpuThreads final : public Communicator {
 public:
  explicit GpuThreads(Communicator &threads) : threads_(threads) {}
  int rank() const override { return threads_.rank(); }
  int size() const override { return threads_.size(); }
  GpuMessages gpu_messages() const override { return {GpuSupport::yes, "the test says so"}; }
  void exchange(std::span<const Message> sends, std::span<const Message> receives) override
  {
    const c10::impl::VirtualGuardImpl gpu(at::kCUDA);
    const c10::Stream stream = gpu.getStreamFromGlobalPool(kGpu);
    const c10::StreamGuard guard(stream);
    const auto bytes = [](const Message &message, const at::Device &device) {
      return at::from_blob(message.data, {static_cast<std::int64_t>(message.bytes)},
                           at::TensorOptions().dtype(at::kByte).device(device));
    };
    std::vector<at::Tensor> keep;
    std::vector<Message> sent, received;
    for (const Message &message : sends) {
      keep.push_back(bytes(message, kGpu).cpu());
      sent.push_back({message.rank, keep.back().data_ptr(), message.bytes});
    }
    for (const Message &message : receives) {
      keep.push_back(at::empty({static_cast<std::int64_t>(message.bytes)}, at::kByte));
      received.push_back({message.rank, keep.back().data_ptr(), message.bytes});
    }
    threads_.exchange(sent, received);
    for (std::size_t k = 0; k < receives.size(); ++k)
      bytes(receives[k], kGpu).copy_(bytes(received[k], at::kCPU));
    gpu.synchronizeStream(stream);
  }
  std::vector<Parcel> deliver(std::span<const Parcel> parcels) override
  {
    return threads_.deliver(parcels);
  }
  void sum(std::span<double> values) override { threads_.sum(values); }
  void sum(std::span<std::int64_t> values) override { threads_.sum(values); }
  void max(std::span<std::int64_t> values) override { threads_.max(values); }
  void broadcast(void *data, std::size_t bytes, int root) override
  {
    threads_.broadcast(data, bytes, root);
  }

 private:
  Communicator &threads_;
};

at::Tensor values_of(int rank, std::int64_t rows, std::int64_t width, at::ScalarType dtype)
{
  const at::Tensor numbers = at::arange(rows * width, at::kDouble) * 0.37 + 1000.0 * rank;
  return at::sin(numbers).mul(100.0).to(dtype).view({rows, width});
}

}    // namespace

TEST_CASE("gather and scatter of GPU rows give the bits of CPU rows, through either memory")
{
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kHalf, at::kLong})
    for (const std::int64_t width : {1, 3, 64, 257})
      run_virtual_ranks(kRanks, [&](Communicator &threads) {
        GpuThreads communicator(threads);
        HaloExchange reference(threads), host(threads), device(communicator);
        reference.set_plan(random_plan(threads));
        host.set_plan(reference.plan());
        device.set_plan(reference.plan());
        device.set_message_path(MessagePath::device);
        // A stream of its own for each rank, which no copy on another waits for by chance.
        const c10::impl::VirtualGuardImpl gpu(at::kCUDA);
        const c10::StreamGuard guard(gpu.getStreamFromGlobalPool(kGpu));
        const HaloPlan &plan = reference.plan();
        for (int round = 0; round < 3; ++round) {
          const at::Tensor owned =
              values_of(communicator.rank() + 10 * round, plan.n_owned, width, dtype);
          const at::Tensor rows =
              values_of(communicator.rank() + round, plan.n_rows(), width, dtype);
          const at::Tensor gathered = reference.gather(owned), added = reference.scatter(rows);
          require(!at::equal(added, rows.narrow(0, 0, plan.n_owned)), "nothing was added");
          for (HaloExchange *exchange : {&host, &device}) {
            // Rows are made on the GPU just before, and read right after.
            require(at::equal(exchange->gather(owned.to(kGpu) + 0).cpu(), gathered), "gather");
            require(at::equal(exchange->scatter(rows.to(kGpu) + 0).cpu(), added), "scatter");
          }
        }
        require(host.traffic().bytes_sent == reference.traffic().bytes_sent, "bytes");
      });
  SUCCEED();
}

TEST_CASE("buffers of the host are made once")
{
  run_virtual_ranks(2, [](Communicator &communicator) {
    const std::vector<RowOwner> wishes{{1 - communicator.rank(), 0}, {1 - communicator.rank(), 3}};
    std::vector<std::int64_t> rows(wishes.size());
    HaloExchange exchange(communicator);
    exchange.set_plan(build_halo_plan(communicator, 10, wishes, rows));
    const auto allocations = [] {
      return at::getHostAllocator(at::kCUDA)->get_stats().num_host_alloc;
    };
    std::int64_t before = 0;
    for (int step = 0; step < 50; ++step) {
      if (step == 5) before = allocations();
      exchange.gather(at::ones({10, 64 - step % 5}, at::device(kGpu)));
      exchange.scatter(at::ones({12, 64 - step % 5}, at::device(kGpu)));
    }
    require(allocations() == before, "pinned memory was allocated again");
  });
  SUCCEED();
}

TEST_CASE("auto takes GPU memory where the communicator does and a trial arrives")
{
  run_virtual_ranks(3, [](Communicator &threads) {
    GpuThreads communicator(threads);
    require(choose_message_path("auto", kGpu, communicator).path == MessagePath::device, "auto");
    require(choose_message_path("device", kGpu, communicator).path == MessagePath::device,
            "device");
    require(choose_message_path("host", kGpu, communicator).path == MessagePath::host, "host");
    require(choose_message_path("auto", kGpu, threads).path == MessagePath::host, "not supported");
  });
  CHECK_THROWS_AS(
      run_virtual_ranks(
          2, [](Communicator &threads) { choose_message_path("device", kGpu, threads); }),
      Error);
}
