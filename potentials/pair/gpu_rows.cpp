#include "potentials/pair/gpu_rows.h"

namespace mlip_dd {

GpuRows::GpuRows(int gpu)
    : types_(gpu), owned_atoms_(gpu), runs_(gpu), neighbours_(gpu), atoms_(gpu), sums_(gpu)
{}

void GpuRows::take(const PairRows &rows, bool new_rows)
{
  atoms_.upload(rows.atoms);
  if (!new_rows) return;
  types_.upload(rows.types);
  owned_atoms_.upload(rows.owned_atoms);
  runs_.upload(rows.runs);
  neighbours_.upload(rows.neighbours);
  view_ = {rows.n_types,
           rows.n_owned,
           types_.as<std::int32_t>(),
           owned_atoms_.as<std::int32_t>(),
           runs_.as<NeighbourRun>(),
           neighbours_.as<std::int32_t>(),
           atoms_.as<Packed4>()};
}

}    // namespace mlip_dd
