#include "potentials/pair/row_blocks.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace mlip_dd {

void for_each_item(std::int64_t count, int threads,
                   const std::function<void(std::int64_t item)> &body)
{
  std::atomic<std::int64_t> next = 0;
  const auto work = [&] {
    for (std::int64_t item = next++; item < count; item = next++) body(item);
  };
  const std::int64_t helpers = std::min<std::int64_t>(threads, count) - 1;
  std::vector<std::jthread> team;
  for (std::int64_t k = 0; k < helpers; ++k) team.emplace_back(work);
  work();
}

void for_each_block(
    std::int64_t n_rows, int threads,
    const std::function<void(std::int64_t block, std::int64_t begin, std::int64_t end)> &body)
{
  for_each_item(count_blocks(n_rows), threads, [&](std::int64_t block) {
    body(block, block * kRowsPerBlock, std::min(n_rows, (block + 1) * kRowsPerBlock));
  });
}

}    // namespace mlip_dd
