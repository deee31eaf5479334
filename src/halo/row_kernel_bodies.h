// The loop bodies of packing and of the reverse sum, compiled for the CPU and for CUDA alike, so
// that what runs on a GPU is tested without one.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define MLIP_DD_HOST_DEVICE __host__ __device__
#else
#define MLIP_DD_HOST_DEVICE
#endif

namespace mlip_dd {

// packed[k, c] = source[rows[k], c]; both [*, width] and contiguous.
template <class Word>
MLIP_DD_HOST_DEVICE inline void pack_element(const Word *source, const std::int64_t *rows,
                                             Word *packed, std::int64_t width, std::int64_t k,
                                             std::int64_t c)
{
  packed[k * width + c] = source[rows[k] * width + c];
}

// owned[sum_rows[s], c] += sum over the segment's entries e, in their order, of received[e, c].
// `Sum` is wider than `Value` where rounding would otherwise depend on the number of neighbours.
template <class Value, class Sum>
MLIP_DD_HOST_DEVICE inline void add_segment_element(Value *owned, const Value *received,
                                                    const std::int64_t *sum_rows,
                                                    const std::int64_t *sum_offsets,
                                                    const std::int64_t *sum_entries,
                                                    std::int64_t width, std::int64_t s,
                                                    std::int64_t c)
{
  Value &target = owned[sum_rows[s] * width + c];
  Sum total = static_cast<Sum>(target);
  for (std::int64_t k = sum_offsets[s]; k < sum_offsets[s + 1]; ++k)
    total += static_cast<Sum>(received[sum_entries[k] * width + c]);
  target = static_cast<Value>(total);
}

}    // namespace mlip_dd
