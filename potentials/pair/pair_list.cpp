#include "potentials/pair/pair_list.h"

namespace mlip_dd {

PairView PairList::take(const AtomGraph &graph, const HostStep &step, int n_types)
{
  const bool kept = current_;
  current_ = true;
  if (graph.device) {
    if (!kept) graph.device->lay_out_pairs(n_types, pairs_);
    graph.device->place_pairs(pairs_);
    return view_of(pairs_);
  }
  if (!kept) set_rows(rows_, graph, n_types);
  set_positions(rows_, step.positions);
  if (!lanes_) return rows_.view();
  if (kept)
    upload_positions(rows_, pairs_);
  else
    upload_pairs(rows_, device_, pairs_);
  return view_of(pairs_);
}

}    // namespace mlip_dd
