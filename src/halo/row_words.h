// Packing copies bytes, whatever the dtype: this picks the widest word that a row divides into.
#pragma once

#include <cstdint>

namespace mlip_dd {

struct alignas(16) Word16 {
  std::uint64_t low, high;
};

// Calls visit(Word{}, words per row) with the widest word that divides `row_bytes` and to which
// both addresses are aligned.
template <class Visit>
void with_row_words(std::int64_t row_bytes, const void *a, const void *b, Visit visit)
{
  const auto fits = [&](std::int64_t size) {
    const auto bits = reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b);
    return row_bytes % size == 0 && bits % static_cast<std::uintptr_t>(size) == 0;
  };
  if (fits(16))
    visit(Word16{}, row_bytes / 16);
  else if (fits(8))
    visit(std::uint64_t{}, row_bytes / 8);
  else if (fits(4))
    visit(std::uint32_t{}, row_bytes / 4);
  else if (fits(2))
    visit(std::uint16_t{}, row_bytes / 2);
  else
    visit(std::uint8_t{}, row_bytes);
}

}    // namespace mlip_dd
