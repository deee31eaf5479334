#include "halo/row_kernels.h"

#include <ATen/Dispatch.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <string>

#include "base/error.h"

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
  const std::int64_t row_bytes = row_elements(packed) * packed.element_size();
  with_row_words(row_bytes, source.const_data_ptr(), packed.data_ptr(),
                 [&](auto word, std::int64_t width) {
                   using Word = decltype(word);
                   pack_share(static_cast<const Word *>(source.const_data_ptr()),
                              rows.const_data_ptr<std::int64_t>(),
                              static_cast<Word *>(packed.data_ptr()), rows.numel(), width, {});
                 });
}

void add_segments_cpu(at::Tensor &owned, const at::Tensor &received, const SegmentIndex &index)
{
  const std::int64_t width = row_elements(owned);
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, owned.scalar_type(), "add_segments", [&] {
    using Sum = SumOf<scalar_t>;
    auto *target = owned.mutable_data_ptr<scalar_t>();
    const auto *source = received.const_data_ptr<scalar_t>();
    with_row_lanes<scalar_t>(width, target, source, [&](auto lanes) {
      using Group = Lanes<scalar_t, lanes.value>;
      add_segments_share<Sum>(reinterpret_cast<Group *>(target),
                              reinterpret_cast<const Group *>(source), index.segments(),
                              width / lanes.value, {});
    });
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
