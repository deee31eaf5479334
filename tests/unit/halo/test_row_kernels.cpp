// If these fail, rows are packed or summed wrongly for some dtype, width or alignment, memory
// beside them is overwritten, or the GPU's kernels, which run the same bodies, give other sums than
// the CPU.
#include <ATen/ATen.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/error.h"
#include "catch.h"
#include "halo/row_kernels.h"
#include "halo/row_words.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr std::int64_t kPadding =
    16;    // values before and after the rows that must stay as they are
const std::vector<at::ScalarType> kTypes{at::kDouble,   at::kFloat, at::kHalf,
                                         at::kBFloat16, at::kLong,  at::kInt,
                                         at::kShort,    at::kChar,  at::kByte};
// Words of every size, and rows that divide into none.
const std::vector<std::int64_t> kWidths{1, 2, 3, 4, 5, 7, 8, 16, 33};

// [rows, width] whose first value lies `offset` values behind an aligned address.
struct PaddedRows {
  PaddedRows(std::int64_t rows, std::int64_t width, std::int64_t offset, at::ScalarType dtype)
      : storage(at::full({2 * kPadding + rows * width}, 99, dtype)),
        values(storage.narrow(0, kPadding + offset, rows * width).view({rows, width}))
  {}
  bool padding_intact() const
  {
    const at::Tensor before = storage.narrow(0, 0, values.storage_offset());
    const std::int64_t end = values.storage_offset() + values.numel();
    const at::Tensor after = storage.narrow(0, end, storage.numel() - end);
    return before.eq(99).all().item<bool>() && after.eq(99).all().item<bool>();
  }
  at::Tensor storage, values;
};

// Small numbers that every dtype holds and whose sums in float64 are exact in any order.
at::Tensor some_values(at::IntArrayRef shape, at::ScalarType dtype)
{
  const at::Tensor whole = at::randint(1, 9, shape, at::kLong);
  return at::isFloatingType(dtype) ? (whole.to(at::kDouble) / 8.0 + 0.125).to(dtype)
                                   : whole.to(dtype);
}

at::Tensor indices(const std::vector<std::int64_t> &values)
{
  return at::tensor(values, at::kLong);
}

// Six rows; one gets nothing although it has a segment, one gets a copy twice.
const std::vector<std::int64_t> kSumRows{0, 2, 3, 5}, kSumOffsets{0, 3, 3, 4, 7},
    kSumEntries{4, 0, 6, 2, 1, 3, 1};
constexpr std::int64_t kOwned = 6, kReceived = 7;

SegmentIndex segment_index()
{
  return {indices(kSumRows), indices(kSumOffsets), indices(kSumEntries)};
}

// The workers of a grid of blocks as the CUDA launch deals them out, in an order of chance.
std::vector<TableShare> workers(std::int64_t blocks, std::int64_t rows_per_block,
                                std::int64_t columns)
{
  std::vector<TableShare> shares;
  for (std::int64_t block = 0; block < blocks; ++block)
    for (std::int64_t y = 0; y < rows_per_block; ++y)
      for (std::int64_t x = 0; x < columns; ++x)
        shares.push_back({block * rows_per_block + y, blocks * rows_per_block, x, columns});
  std::shuffle(shares.begin(), shares.end(), std::mt19937(run_seed()));
  return shares;
}

}    // namespace

TEST_CASE("packing copies rows of any dtype, width and alignment, and nothing beside them")
{
  const std::vector<std::int64_t> rows{3, 0, 3, 5, 1};
  for (const at::ScalarType dtype : kTypes)
    for (const std::int64_t width : kWidths)
      for (const std::int64_t offset : {0, 1, 2}) {
        CAPTURE(toString(dtype), width, offset);
        PaddedRows source(kOwned, width, offset, dtype), packed(5, width, 0, dtype);
        source.values.copy_(some_values({kOwned, width}, dtype));
        pack_rows(source.values, indices(rows), packed.values);
        CHECK(at::equal(packed.values, source.values.index_select(0, indices(rows))));
        CHECK(packed.padding_intact());
      }
}

TEST_CASE("sums of segments are the rounded exact sums for any dtype, width and alignment")
{
  for (const at::ScalarType dtype : kTypes)
    for (const std::int64_t width : kWidths)
      for (const std::int64_t offset : {0, 1, 2}) {
        CAPTURE(toString(dtype), width, offset);
        PaddedRows owned(kOwned, width, offset, dtype);
        owned.values.copy_(some_values({kOwned, width}, dtype));
        const at::Tensor received = some_values({kReceived, width}, dtype);
        at::Tensor expected = owned.values.to(at::kDouble);
        for (std::size_t s = 0; s < kSumRows.size(); ++s)
          for (std::int64_t k = kSumOffsets[s]; k < kSumOffsets[s + 1]; ++k)
            expected[kSumRows[s]] +=
                received[kSumEntries[static_cast<std::size_t>(k)]].to(at::kDouble);
        const at::Tensor before = owned.values.clone();
        add_segments(owned.values, received, segment_index());
        CHECK(at::equal(owned.values, expected.to(dtype)));
        CHECK_FALSE(at::equal(owned.values, before));
        CHECK(owned.padding_intact());
      }
}

TEST_CASE("lists of no rows change nothing")
{
  at::Tensor owned = at::ones({3, 4}), before = owned.clone();
  at::Tensor packed = at::empty({0, 4});
  pack_rows(owned, indices({}), packed);
  add_segments(owned, packed, {indices({}), indices({0}), indices({})});
  CHECK(at::equal(owned, before));
  // Segments without entries leave what is no number as it is.
  owned.fill_(std::numeric_limits<float>::quiet_NaN());
  add_segments(owned, at::ones({1, 4}), {indices({1, 2}), indices({0, 0, 1}), indices({0})});
  CHECK(owned.isnan().all().item<bool>());
}

TEST_CASE("any deal of the work to workers gives the bits of one worker")
{
  constexpr std::int64_t kWidth = 5;
  at::manual_seed(run_seed());
  const at::Tensor received = at::randn({kReceived, 4 * kWidth}, at::kFloat);
  const at::Tensor start = at::randn({kOwned, 4 * kWidth}, at::kFloat);
  using Group = Lanes<float, 4>;
  const SegmentIndex index = segment_index();
  const auto groups = [](const at::Tensor &tensor) {
    return reinterpret_cast<Group *>(tensor.data_ptr<float>());
  };
  at::Tensor whole = start.clone();
  add_segments_share<double>(groups(whole), groups(received), index.segments(), kWidth, {});
  REQUIRE_FALSE(at::equal(whole, start));
  const std::vector<std::int64_t> rows{3, 0, 3, 5, 1, 2, 4};
  const at::Tensor expected = start.index_select(0, indices(rows));
  // Fewer workers than rows and columns, and more.
  for (const auto &[blocks, y, x] : {std::tuple{1, 2, 2}, {2, 1, 8}, {4, 4, 4}}) {
    at::Tensor parts = start.clone(), packed = at::full_like(expected, 99.0f);
    for (const TableShare &share : workers(blocks, y, x)) {
      add_segments_share<double>(groups(parts), groups(received), index.segments(), kWidth, share);
      pack_share(groups(start), rows.data(), groups(packed), 7, kWidth, share);
    }
    CHECK(at::equal(parts, whole));
    CHECK(at::equal(packed, expected));
  }
}

TEST_CASE("rows farther apart than 2^31 bytes are reached")
{
  // Only two rows of the table are touched; the rest is never paged in.
  constexpr std::int64_t kWidth = 1024, kRows = (std::int64_t{1} << 32) / kWidth + 1;
  const at::Tensor table = at::empty({kRows, kWidth}, at::kByte);
  table[kRows - 1].fill_(7);
  table[0].fill_(1);
  at::Tensor packed = at::zeros({1, kWidth}, at::kByte);
  pack_rows(table, indices({kRows - 1}), packed);
  CHECK(packed.eq(7).all().item<bool>());
  at::Tensor owned = table;
  add_segments(owned, packed, {indices({kRows - 1}), indices({0, 1}), indices({0})});
  CHECK(table[kRows - 1].eq(14).all().item<bool>());
  CHECK(table[0].eq(1).all().item<bool>());
}

TEST_CASE("words are as wide as width and both addresses allow")
{
  alignas(16) char memory[32];
  const auto word_bytes = [&](std::int64_t row_bytes, int offset) {
    std::int64_t bytes = 0, words = 0;
    with_row_words(row_bytes, memory, memory + offset, [&](auto word, std::int64_t count) {
      bytes = sizeof word;
      words = count;
    });
    CHECK(words * bytes == row_bytes);
    return bytes;
  };
  CHECK(word_bytes(48, 0) == 16);
  CHECK(word_bytes(48, 8) == 8);
  CHECK(word_bytes(40, 0) == 8);
  CHECK(word_bytes(12, 0) == 4);
  CHECK(word_bytes(48, 2) == 2);
  CHECK(word_bytes(7, 0) == 1);
  int lanes = 0;
  with_row_lanes<float>(8, memory, memory, [&](auto count) { lanes = count.value; });
  CHECK(lanes == 4);
  with_row_lanes<float>(6, memory, memory, [&](auto count) { lanes = count.value; });
  CHECK(lanes == 1);
  with_row_lanes<float>(8, memory, memory + 4, [&](auto count) { lanes = count.value; });
  CHECK(lanes == 1);
}
