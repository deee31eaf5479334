#include "halo/halo_plan.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/error.h"

namespace mlip_dd {

namespace {

// Groups the copies by owned row. Copies are visited rank by rank, so the order of each sum depends
// on the decomposition alone.
void index_sums(HaloPlan &plan)
{
  std::vector<std::int64_t> order(plan.copy_rows.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return plan.copy_rows[static_cast<std::size_t>(a)] <
           plan.copy_rows[static_cast<std::size_t>(b)];
  });
  plan.sum_entries = std::move(order);
  plan.sum_offsets.assign(1, 0);
  for (std::size_t k = 0; k < plan.sum_entries.size(); ++k) {
    const std::int64_t row = plan.copy_rows[static_cast<std::size_t>(plan.sum_entries[k])];
    if (plan.sum_rows.empty() || plan.sum_rows.back() != row) {
      plan.sum_rows.push_back(row);
      plan.sum_offsets.push_back(static_cast<std::int64_t>(k));
    }
    plan.sum_offsets.back() = static_cast<std::int64_t>(k) + 1;
  }
}

}    // namespace

HaloPlan build_halo_plan(Communicator &communicator, std::int64_t n_owned,
                         std::span<const RowOwner> wanted, std::span<std::int64_t> halo_rows)
{
  std::vector<RowOwner> distinct(wanted.begin(), wanted.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  for (const RowOwner &owner : distinct)
    if (owner.rank < 0 || owner.rank >= communicator.size() || owner.rank == communicator.rank())
      throw Error({"a halo row must be owned by another rank", "rank " + std::to_string(owner.rank),
                   "rank " + std::to_string(communicator.rank()), ""});

  HaloPlan plan;
  plan.n_owned = n_owned;
  plan.n_halo = static_cast<std::int64_t>(distinct.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const auto position = std::lower_bound(distinct.begin(), distinct.end(), wanted[k]);
    halo_rows[k] = n_owned + (position - distinct.begin());
  }

  std::vector<Parcel> requests;
  for (std::size_t k = 0; k < distinct.size(); ++k) {
    if (requests.empty() || requests.back().rank != distinct[k].rank) {
      requests.push_back({distinct[k].rank, {}});
      plan.halo_peers.push_back({distinct[k].rank, static_cast<std::int64_t>(k), 0});
    }
    requests.back().values.push_back(distinct[k].row);
    ++plan.halo_peers.back().count;
  }

  for (const Parcel &request : communicator.deliver(requests)) {
    for (std::int64_t row : request.values)
      if (row < 0 || row >= n_owned)
        throw Error({"another rank asks for a row that this rank does not own",
                     "row " + std::to_string(row) + " of " + std::to_string(n_owned),
                     "rank " + std::to_string(communicator.rank()) + ", asked by rank " +
                         std::to_string(request.rank),
                     ""});
    plan.copy_peers.push_back({request.rank, static_cast<std::int64_t>(plan.copy_rows.size()),
                               static_cast<std::int64_t>(request.values.size())});
    plan.copy_rows.insert(plan.copy_rows.end(), request.values.begin(), request.values.end());
  }
  index_sums(plan);
  return plan;
}

}    // namespace mlip_dd
