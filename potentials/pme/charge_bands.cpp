#include "potentials/pme/charge_bands.h"

#include <algorithm>

#include "potentials/pme/splines.h"

namespace mlip_dd {

namespace {

constexpr int kBandWidth = 16;    // mesh points, at least
static_assert(kBandWidth >= kLargestOrder);

// The charges in the order of their bins, each bin's in their own order, and where each bin starts.
struct ChargeBins {
  std::vector<std::int32_t> starts;
  std::vector<std::int32_t> charges;
};

ChargeBins sort_into_bins(std::span<const std::int32_t> bin_of, std::size_t bins)
{
  ChargeBins sorted;
  sorted.starts.assign(bins + 1, 0);
  for (const std::int32_t bin : bin_of) ++sorted.starts[static_cast<std::size_t>(bin) + 1];
  for (std::size_t b = 1; b <= bins; ++b) sorted.starts[b] += sorted.starts[b - 1];
  std::vector<std::int32_t> next(sorted.starts.begin(), sorted.starts.end() - 1);
  sorted.charges.resize(bin_of.size());
  for (std::size_t i = 0; i < bin_of.size(); ++i)
    sorted.charges[static_cast<std::size_t>(next[static_cast<std::size_t>(bin_of[i])]++)] =
        static_cast<std::int32_t>(i);
  return sorted;
}

}    // namespace

ChargeBands sort_into_bands(const MeshSize &mesh, std::span<const double> fractional)
{
  const int bands = std::max(1, mesh[1] / kBandWidth / 2 * 2);
  std::vector<std::int32_t> bins(fractional.size() / 3);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const int x = axis_place(fractional[3 * i], mesh[0]).point;
    const int y = axis_place(fractional[3 * i + 1], mesh[1]).point;
    bins[i] = static_cast<int>(static_cast<std::int64_t>(y) * bands / mesh[1]) * mesh[0] + x;
  }
  ChargeBins sorted =
      sort_into_bins(bins, static_cast<std::size_t>(bands) * static_cast<std::size_t>(mesh[0]));
  ChargeBands result;
  for (int band = 0; band <= bands; ++band)
    result.starts.push_back(
        sorted.starts[static_cast<std::size_t>(band) * static_cast<std::size_t>(mesh[0])]);
  result.charges = std::move(sorted.charges);
  return result;
}

}    // namespace mlip_dd
