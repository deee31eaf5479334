// How wide the words are in which rows are read and written: as wide as the row divides into and
// both addresses allow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace mlip_dd {

inline constexpr std::int64_t kWidestWord = 16;    // bytes; what a GPU loads at once

struct alignas(16) Word16 {
  std::uint64_t low, high;
};

// `size` must be a power of two.
inline bool fits_words(std::int64_t size, std::int64_t row_bytes, const void *a, const void *b)
{
  const auto bits = reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b);
  return row_bytes % size == 0 && bits % static_cast<std::uintptr_t>(size) == 0;
}

// Packing copies bytes, whatever the dtype: calls visit(Word{}, words per row) with the widest word
// that divides `row_bytes` and to which both addresses are aligned.
template <class Visit>
void with_row_words(std::int64_t row_bytes, const void *a, const void *b, Visit visit)
{
  if (fits_words(16, row_bytes, a, b))
    visit(Word16{}, row_bytes / 16);
  else if (fits_words(8, row_bytes, a, b))
    visit(std::uint64_t{}, row_bytes / 8);
  else if (fits_words(4, row_bytes, a, b))
    visit(std::uint32_t{}, row_bytes / 4);
  else if (fits_words(2, row_bytes, a, b))
    visit(std::uint16_t{}, row_bytes / 2);
  else
    visit(std::uint8_t{}, row_bytes);
}

// Values that are loaded and stored at once.
template <class Value, int count>
struct alignas(sizeof(Value) * count) Lanes {
  Value values[count];
  static constexpr int kCount = count;
};

// Adding has to know the values: calls visit(number of values at a time as a constant), the widest
// word's where the row divides into such words and both addresses are aligned to them, else one.
template <class Value, class Visit>
void with_row_lanes(std::int64_t row_values, const void *a, const void *b, Visit visit)
{
  constexpr int kLanes = static_cast<int>(kWidestWord / static_cast<std::int64_t>(sizeof(Value)));
  if (fits_words(kWidestWord, row_values * static_cast<std::int64_t>(sizeof(Value)), a, b))
    visit(std::integral_constant<int, kLanes>{});
  else
    visit(std::integral_constant<int, 1>{});
}

}    // namespace mlip_dd
