// What each worker of the row kernels does, compiled for the CPU and for CUDA alike, so that what
// runs on a GPU is tested without one.
#pragma once

#include <cstdint>

#include "halo/row_words.h"

#ifdef __CUDACC__
#define MLIP_DD_HOST_DEVICE __host__ __device__
#else
#define MLIP_DD_HOST_DEVICE
#endif

namespace mlip_dd {

// A worker's part of a table: every row_step-th row from first_row on, and of these every
// column_step-th column from first_column on. The CPU is one worker with all of it.
struct TableShare {
  std::int64_t first_row = 0, row_step = 1;
  std::int64_t first_column = 0, column_step = 1;
};

// packed[k, c] = source[rows[k], c]; packed [count, width] and source [*, width] contiguous.
template <class Word>
MLIP_DD_HOST_DEVICE inline void pack_share(const Word *source, const std::int64_t *rows,
                                           Word *packed, std::int64_t count, std::int64_t width,
                                           const TableShare &share)
{
  for (std::int64_t k = share.first_row; k < count; k += share.row_step) {
    const Word *from = source + rows[k] * width;
    Word *to = packed + k * width;
    for (std::int64_t c = share.first_column; c < width; c += share.column_step) to[c] = from[c];
  }
}

// The copies of each row that receives any, as in HaloPlan.
struct Segments {
  const std::int64_t *rows = nullptr;       // [count]
  const std::int64_t *offsets = nullptr;    // [count + 1]
  const std::int64_t *entries = nullptr;
  std::int64_t count = 0;
};

// owned[rows[s], c] += sum over the segment's entries e, in their order, of received[e, c], for
// `lanes` neighbouring columns at a time, of which the share counts; width is in such groups. `Sum`
// is wider than `Value` where rounding would otherwise depend on the number of ranks. One worker
// adds up one number, so the order is fixed and no two write to one place.
template <class Sum, class Value, int lanes>
MLIP_DD_HOST_DEVICE inline void add_segments_share(Lanes<Value, lanes> *owned,
                                                   const Lanes<Value, lanes> *received,
                                                   const Segments &segments, std::int64_t width,
                                                   const TableShare &share)
{
  for (std::int64_t s = share.first_row; s < segments.count; s += share.row_step) {
    const std::int64_t begin = segments.offsets[s], end = segments.offsets[s + 1];
    if (begin == end) continue;    // what stands there stays as it is, to the bit
    Lanes<Value, lanes> *target = owned + segments.rows[s] * width;
    for (std::int64_t c = share.first_column; c < width; c += share.column_step) {
      Lanes<Value, lanes> values = target[c];
      Sum totals[lanes];
      for (int lane = 0; lane < lanes; ++lane) totals[lane] = static_cast<Sum>(values.values[lane]);
      for (std::int64_t k = begin; k < end; ++k) {
        const Lanes<Value, lanes> copy = received[segments.entries[k] * width + c];
        for (int lane = 0; lane < lanes; ++lane)
          totals[lane] += static_cast<Sum>(copy.values[lane]);
      }
      for (int lane = 0; lane < lanes; ++lane)
        values.values[lane] = static_cast<Value>(totals[lane]);
      target[c] = values;
    }
  }
}

}    // namespace mlip_dd
