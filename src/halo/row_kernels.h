// Packing rows for a message and adding received rows into their owners, for tensors on any device.
#pragma once

#include <ATen/core/Tensor.h>

#include <type_traits>

#include "halo/row_kernel_bodies.h"

namespace mlip_dd {

// The index lists of a HaloPlan as int64 tensors on one device.
struct SegmentIndex {
  at::Tensor rows;       // [S]      sum_rows
  at::Tensor offsets;    // [S + 1]  sum_offsets
  at::Tensor entries;    // [K]      sum_entries

  Segments segments() const
  {
    return {rows.const_data_ptr<std::int64_t>(), offsets.const_data_ptr<std::int64_t>(),
            entries.const_data_ptr<std::int64_t>(), rows.numel()};
  }
};

// What values are added up in.
template <class Value>
using SumOf = std::conditional_t<std::is_integral_v<Value>, std::int64_t, double>;

// packed[k, ...] = source[rows[k], ...]. source [n, ...] contiguous, any dtype; rows int64 [K];
// packed [K, ...] contiguous, of source's dtype. All on one device.
void pack_rows(const at::Tensor &source, const at::Tensor &rows, at::Tensor &packed);

// owned[index.rows[s], ...] += sum of received[index.entries[segment s], ...], in the order of the
// entries, accumulated in float64 for floating types. owned [n, ...] and received [K, ...]
// contiguous, of one dtype and device. Throws Error for bool and for dtypes without addition.
void add_segments(at::Tensor &owned, const at::Tensor &received, const SegmentIndex &index);

#ifdef MLIP_DD_WITH_CUDA
void pack_rows_cuda(const at::Tensor &source, const at::Tensor &rows, at::Tensor &packed);
void add_segments_cuda(at::Tensor &owned, const at::Tensor &received, const SegmentIndex &index);
#endif

}    // namespace mlip_dd
