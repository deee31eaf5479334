// Work on rows cut into blocks of fixed size and dealt out to threads. Sums taken per block and
// added in the order of the blocks are the same bits for any number of threads.
#pragma once

#include <cstdint>
#include <functional>

namespace mlip_dd {

inline constexpr std::int64_t kRowsPerBlock = 256;

inline std::int64_t count_blocks(std::int64_t n_rows)
{
  return (n_rows + kRowsPerBlock - 1) / kRowsPerBlock;
}

// Calls body(item) for every item in [0, count), on up to `threads` threads, the caller's among
// them. `body` must not throw.
void for_each_item(std::int64_t count, int threads,
                   const std::function<void(std::int64_t item)> &body);

// Calls body(block, first row, row after the last) for every block, as for_each_item().
void for_each_block(
    std::int64_t n_rows, int threads,
    const std::function<void(std::int64_t block, std::int64_t begin, std::int64_t end)> &body);

}    // namespace mlip_dd
