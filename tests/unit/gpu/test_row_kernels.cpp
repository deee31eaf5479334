// If these fail, the GPU's row kernels pack or add other rows than the CPU's: features and
// gradients of models on several GPUs are wrong, or sums differ from run to run.
#include <ATen/ATen.h>

#include <vector>

#include "catch.h"
#include "halo/row_kernels.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

const std::vector<at::ScalarType> kTypes{at::kDouble,   at::kFloat, at::kHalf,
                                         at::kBFloat16, at::kLong,  at::kInt,
                                         at::kShort,    at::kChar,  at::kByte};
// Words of every size, rows that divide into none, and more words than a block has threads.
const std::vector<std::int64_t> kWidths{1, 2, 3, 4, 7, 8, 33, 128, 1100, 2048};

at::Tensor random_values(at::IntArrayRef shape, at::ScalarType dtype)
{
  return at::isFloatingType(dtype) ? at::randn(shape, at::kDouble).to(dtype)
                                   : at::randint(0, 100, shape, at::kLong).to(dtype);
}

// Every second row gets up to four copies, some of them none; entries in an order of chance.
SegmentIndex random_segments(std::int64_t owned, std::int64_t &received)
{
  std::vector<std::int64_t> rows, offsets{0};
  for (std::int64_t row = 0; row < owned; row += 2) {
    rows.push_back(row);
    offsets.push_back(offsets.back() + row % 5);
  }
  received = offsets.back();
  return {at::tensor(rows, at::kLong), at::tensor(offsets, at::kLong), at::randperm(received)};
}

// The same numbers in GPU memory, `offset` values behind an aligned address.
at::Tensor on_gpu(const at::Tensor &rows, std::int64_t offset)
{
  const at::Tensor storage = at::empty({rows.numel() + offset}, rows.options().device(at::kCUDA));
  at::Tensor copy = storage.narrow(0, offset, rows.numel()).view(rows.sizes());
  copy.copy_(rows);
  return copy;
}

SegmentIndex on_gpu(const SegmentIndex &index)
{
  return {index.rows.cuda(), index.offsets.cuda(), index.entries.cuda()};
}

}    // namespace

TEST_CASE("rows packed on the GPU are those packed on the CPU")
{
  at::manual_seed(run_seed());
  for (const at::ScalarType dtype : kTypes)
    for (const std::int64_t width : kWidths)
      for (const std::int64_t offset : {0, 1}) {
        CAPTURE(toString(dtype), width, offset);
        const at::Tensor source = random_values({301, width}, dtype);
        const at::Tensor rows = at::randint(0, 301, {500}, at::kLong);
        at::Tensor packed = at::empty({500, width}, dtype);
        pack_rows(source, rows, packed);
        at::Tensor on_device = at::empty({500, width}, packed.options().device(at::kCUDA));
        pack_rows(on_gpu(source, offset), rows.cuda(), on_device);
        CHECK(at::equal(on_device.cpu(), packed));
      }
}

TEST_CASE("sums on the GPU are those on the CPU bit for bit, and repeat")
{
  at::manual_seed(run_seed());
  std::int64_t received_rows = 0;
  const SegmentIndex index = random_segments(301, received_rows), device_index = on_gpu(index);
  for (const at::ScalarType dtype : kTypes)
    for (const std::int64_t width : kWidths)
      for (const std::int64_t offset : {0, 1}) {
        CAPTURE(toString(dtype), width, offset);
        const at::Tensor start = random_values({301, width}, dtype);
        const at::Tensor received = random_values({received_rows, width}, dtype);
        at::Tensor owned = start.clone();
        add_segments(owned, received, index);
        CHECK_FALSE(at::equal(owned, start));
        for (int run = 0; run < 2; ++run) {
          at::Tensor on_device = on_gpu(start, offset);
          add_segments(on_device, on_gpu(received, offset), device_index);
          CHECK(at::equal(on_device.cpu(), owned));
        }
      }
}
