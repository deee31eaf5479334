#include "halo/row_kernels.h"

#include <ATen/Dispatch.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <string>
#include <type_traits>

#include "base/error.h"
#include "halo/row_kernel_bodies.h"
#include "halo/row_words.h"

namespace mlip_dd {

namespace {

std::int64_t row_elements(const at::Tensor &rows)
{
  std::int64_t width = 1;
  for (std::int64_t d = 1; d < rows.dim(); ++d) width *= rows.size(d);
  return width;
}

void pack_rows_cpu(const at::Tensor &source, const at::Tensor &rows, at::Tensor &packed)
{
  const std::int64_t count = rows.numel();
  const std::int64_t *row = rows.const_data_ptr<std::int64_t>();
  const std::int64_t row_bytes = row_elements(packed) * packed.element_size();
  with_row_words(row_bytes, source.const_data_ptr(), packed.data_ptr(),
                 [&](auto word, std::int64_t width) {
                   using Word = decltype(word);
                   const auto *from = static_cast<const Word *>(source.const_data_ptr());
                   auto *to = static_cast<Word *>(packed.data_ptr());
                   for (std::int64_t k = 0; k < count; ++k)
                     for (std::int64_t c = 0; c < width; ++c)
                       pack_element(from, row, to, width, k, c);
                 });
}

void add_segments_cpu(at::Tensor &owned, const at::Tensor &received, const SegmentIndex &index)
{
  const std::int64_t segments = index.rows.numel();
  const std::int64_t width = row_elements(owned);
  const std::int64_t *rows = index.rows.const_data_ptr<std::int64_t>();
  const std::int64_t *offsets = index.offsets.const_data_ptr<std::int64_t>();
  const std::int64_t *entries = index.entries.const_data_ptr<std::int64_t>();
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, owned.scalar_type(), "add_segments", [&] {
    using Sum = std::conditional_t<std::is_integral_v<scalar_t>, std::int64_t, double>;
    auto *target = owned.mutable_data_ptr<scalar_t>();
    const auto *source = received.const_data_ptr<scalar_t>();
    for (std::int64_t s = 0; s < segments; ++s)
      for (std::int64_t c = 0; c < width; ++c)
        add_segment_element<scalar_t, Sum>(target, source, rows, offsets, entries, width, s, c);
  });
}

}    // namespace

void pack_rows(const at::Tensor &source, const at::Tensor &rows, at::Tensor &packed)
{
  if (packed.numel() == 0) return;
  if (source.is_cpu()) return pack_rows_cpu(source, rows, packed);
#ifdef MLIP_DD_WITH_CUDA
  if (source.is_cuda()) return pack_rows_cuda(source, rows, packed);
#endif
  // Without kernels of our own for the device: torch's gather.
  packed.copy_(source.index_select(0, rows));
}

void add_segments(at::Tensor &owned, const at::Tensor &received, const SegmentIndex &index)
{
  if (owned.scalar_type() == at::kBool || owned.is_complex())
    throw Error({"rows of this dtype cannot be added into their owners",
                 toString(owned.scalar_type()), "", "Use a floating or integer dtype"});
  if (received.numel() == 0 || index.rows.numel() == 0) return;
  if (owned.is_cpu()) return add_segments_cpu(owned, received, index);
#ifdef MLIP_DD_WITH_CUDA
  if (owned.is_cuda()) return add_segments_cuda(owned, received, index);
#endif
  // Without kernels of our own for the device: on the host, with the same bits.
  at::Tensor host = owned.cpu();
  add_segments_cpu(host, received.cpu(),
                   {index.rows.cpu(), index.offsets.cpu(), index.entries.cpu()});
  owned.copy_(host);
}

}    // namespace mlip_dd
