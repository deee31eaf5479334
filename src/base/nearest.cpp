#include "base/nearest.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace mlip_dd {

namespace {

// Optimal string alignment distance (Damerau 1964, restricted to one swap per place).
std::size_t edit_distance(std::string_view a, std::string_view b)
{
  const std::size_t columns = b.size() + 1;
  std::vector<std::size_t> previous2(columns), previous(columns), current(columns);
  for (std::size_t j = 0; j < columns; ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j < columns; ++j) {
      const std::size_t replace = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], previous2[j - 2] + 1);
    }
    std::swap(previous2, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}    // namespace

std::string nearest_name(std::string_view name, std::span<const std::string_view> candidates)
{
  std::string_view best;
  std::size_t smallest = std::numeric_limits<std::size_t>::max();
  for (std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    const std::size_t limit = std::max(name.size(), candidate.size()) / 3 + 1;
    if (distance <= limit && distance < smallest) {
      smallest = distance;
      best = candidate;
    }
  }
  return std::string(best);
}

}    // namespace mlip_dd
