#include "potentials/pair/pair_rows.h"

#include <algorithm>

namespace mlip_dd {

void set_rows(PairRows &rows, const AtomGraph &graph, int n_types)
{
  const std::size_t n_atoms = graph.candidates.atom_rows.size();
  rows.n_types = n_types;
  rows.n_owned = graph.n_owned;
  rows.types = graph.types;
  if (n_types == 1) rows.types.assign(graph.types.size(), 0);
  rows.owned_atoms = graph.owned_atoms;
  rows.atoms.assign(n_atoms + 1, Packed4{{kOutOfReach, kOutOfReach, kOutOfReach, 0.0}});
  for (std::size_t atom = 0; atom < graph.candidates.atom_rows.size(); ++atom)
    rows.atoms[atom].values[3] = static_cast<double>(graph.candidates.atom_rows[atom]);

  const auto types = static_cast<std::size_t>(n_types);
  const auto filler = static_cast<std::int32_t>(n_atoms);
  rows.runs.clear();
  rows.neighbours.clear();
  rows.runs.reserve(graph.owned_atoms.size() * types);
  rows.neighbours.reserve(graph.candidates.size() +
                          graph.owned_atoms.size() * types * (kPairsAtOnce - 1));
  std::vector<std::int64_t> next(types);
  for (std::size_t row = 0; row < graph.owned_atoms.size(); ++row) {
    const auto senders = graph.candidates.senders_of(row);
    const auto type_of = [&](std::int32_t atom) {
      const auto sender_row = graph.candidates.atom_rows[static_cast<std::size_t>(atom)];
      return static_cast<std::size_t>(rows.types[static_cast<std::size_t>(sender_row)]);
    };
    std::fill(next.begin(), next.end(), 0);
    if (types == 1)
      next[0] = static_cast<std::int64_t>(senders.size());
    else
      for (const std::int32_t atom : senders) ++next[type_of(atom)];
    auto end = static_cast<std::int64_t>(rows.neighbours.size());
    for (std::int64_t &count : next) {
      const std::int64_t begin = end;
      end += whole_runs(count);
      rows.runs.push_back({begin, end});
      count = begin;
    }
    rows.neighbours.resize(static_cast<std::size_t>(end), filler);
    if (types == 1)
      std::copy(senders.begin(), senders.end(), rows.neighbours.begin() + next[0]);
    else
      for (const std::int32_t atom : senders)
        rows.neighbours[static_cast<std::size_t>(next[type_of(atom)]++)] = atom;
  }
}

void set_positions(PairRows &rows, std::span<const double> positions)
{
  const std::size_t n = rows.atoms.size() - 1;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t a = 0; a < 3; ++a) rows.atoms[i].values[a] = positions[3 * i + a];
}

}    // namespace mlip_dd
