#include "graph/build.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace mlip_dd {

namespace {

constexpr std::int32_t kNoImage = -1;
constexpr std::int32_t kUnmet = -2;    // in CandidateList::atom_rows while these are collected

// Remote atoms met so far, numbered in the order of meeting; the plan renumbers them afterwards.
class RemoteAtoms {
 public:
  explicit RemoteAtoms(std::int64_t n_owned) : n_owned_(n_owned) {}

  // Provisional row of the atom; `image` is remembered for the first meeting only, and so is
  // `type`.
  std::int64_t row_of(const RowOwner &owner, std::int32_t image, std::int32_t type)
  {
    const auto [position, is_new] =
        rows_[owner.rank].try_emplace(owner.row, static_cast<std::int64_t>(owners_.size()));
    if (is_new) {
      owners_.push_back(owner);
      images_.push_back(image);
      types_.push_back(type);
    }
    return n_owned_ + position->second;
  }

  const std::vector<RowOwner> &owners() const { return owners_; }
  const std::vector<std::int32_t> &images() const { return images_; }
  const std::vector<std::int32_t> &types() const { return types_; }

 private:
  std::int64_t n_owned_;
  std::unordered_map<int, std::unordered_map<std::int64_t, std::int64_t>> rows_;
  std::vector<RowOwner> owners_;
  std::vector<std::int32_t> images_;    // kNoImage where no image is near
  std::vector<std::int32_t> types_;
};

// The next receiver: `atom` with those of its neighbours within reach.
void add_receiver(const HostAtoms &atoms, std::span<const std::int32_t> neighbours, int rank,
                  std::int32_t atom, double reach, RemoteAtoms &remote, CandidateList &list)
{
  const double reach_squared = reach * reach;
  const double *receiver = &atoms.positions[3 * static_cast<std::size_t>(atom)];
  std::size_t end = list.sender_atoms.size();
  list.sender_atoms.resize(end + neighbours.size());
  std::int32_t *senders = list.sender_atoms.data();
  for (const std::int32_t sender_atom : neighbours) {
    const auto k = static_cast<std::size_t>(sender_atom);
    const double *sender = &atoms.positions[3 * k];
    const double x = sender[0] - receiver[0];
    const double y = sender[1] - receiver[1];
    const double z = sender[2] - receiver[2];
    if (x * x + y * y + z * z >= reach_squared) continue;
    std::int32_t &row = list.atom_rows[k];
    if (row == kUnmet) {
      const RowOwner &owner = atoms.owners[k];
      row = static_cast<std::int32_t>(
          owner.rank == rank ? owner.row : remote.row_of(owner, sender_atom, atoms.types[k]));
    }
    senders[end] = sender_atom;
    end += row != CandidateList::kNoRow;
  }
  list.sender_atoms.resize(end);
  list.receiver_atoms.push_back(atom);
  list.offsets.push_back(static_cast<std::int64_t>(end));
}

// Receivers in the order of their final rows, which are the present ones up to `n_owned` and
// rows[k] for those that follow; the other of the `n_rows` rows have no candidates.
void sort_receivers(std::int64_t n_owned, std::int64_t n_rows, std::span<const std::int64_t> rows,
                    CandidateList &list)
{
  std::int64_t next = n_owned;
  if (std::all_of(rows.begin(), rows.end(), [&](std::int64_t row) { return row == next++; }))
    return;
  constexpr std::size_t kNone = SIZE_MAX;
  std::vector<std::size_t> places(static_cast<std::size_t>(n_rows), kNone);
  for (std::size_t place = 0; place < list.receivers(); ++place) {
    const auto owned = static_cast<std::size_t>(n_owned);
    places[place < owned ? place : static_cast<std::size_t>(rows[place - owned])] = place;
  }
  CandidateList sorted;
  sorted.sender_atoms.reserve(list.size());
  for (const std::size_t place : places) {
    if (place != kNone) {
      const auto senders = list.senders_of(place);
      sorted.sender_atoms.insert(sorted.sender_atoms.end(), senders.begin(), senders.end());
    }
    sorted.receiver_atoms.push_back(place == kNone ? 0 : list.receiver_atoms[place]);
    sorted.offsets.push_back(static_cast<std::int64_t>(sorted.size()));
  }
  sorted.atom_rows = std::move(list.atom_rows);
  list = std::move(sorted);
}

// Adds the atoms that no edge reaches. Types travel, since there may be no image to ask.
void add_every_atom(Communicator &communicator, const AtomGraph &graph, RemoteAtoms &remote)
{
  std::vector<Parcel> parcels;
  for (int rank = 0; graph.n_owned > 0 && rank < communicator.size(); ++rank)
    if (rank != communicator.rank())
      parcels.push_back({rank, {graph.types.begin(), graph.types.end()}});
  const std::vector<Parcel> received = communicator.deliver(parcels);
  // A rank without atoms has nothing to do with others' rows.
  if (graph.n_owned == 0) return;
  for (const Parcel &types : received)
    for (std::size_t row = 0; row < types.values.size(); ++row)
      remote.row_of({types.rank, static_cast<std::int64_t>(row)}, kNoImage,
                    static_cast<std::int32_t>(types.values[row]));
}

}    // namespace

std::int64_t number_owned_rows(std::span<const std::int32_t> types, std::int64_t n_local,
                               std::span<std::int64_t> owned_rows)
{
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_local); ++i)
    owned_rows[i] = types[i] < 0 ? kNotInModel : rows++;
  return rows;
}

HaloPlan build_graph(Communicator &communicator, const HostAtoms &atoms,
                     const NeighbourList &neighbours, const BuildOptions &options, AtomGraph &graph)
{
  const int rank = communicator.rank();
  CandidateList &list = graph.candidates;
  list.receiver_atoms.clear();
  list.offsets.assign(1, 0);
  list.sender_atoms.clear();
  list.atom_rows.assign(atoms.owners.size(), kUnmet);
  graph.types.clear();
  graph.owned_atoms.clear();
  for (std::size_t i = 0; i < atoms.owners.size(); ++i) {
    if (atoms.owners[i].row == kNotInModel) {
      list.atom_rows[i] = CandidateList::kNoRow;
    } else if (i < static_cast<std::size_t>(atoms.n_local)) {
      list.atom_rows[i] = static_cast<std::int32_t>(atoms.owners[i].row);
      graph.types.push_back(atoms.types[i]);
      graph.owned_atoms.push_back(static_cast<std::int32_t>(i));
    }
  }
  graph.n_owned = static_cast<std::int64_t>(graph.owned_atoms.size());

  RemoteAtoms remote(graph.n_owned);
  const auto add = [&](std::int32_t atom) {
    add_receiver(atoms, neighbours(atom), rank, atom, options.reach, remote, list);
  };
  for (const std::int32_t atom : graph.owned_atoms) add(atom);
  // Layer by layer outwards. An atom is met first through the image fewest edges away from an owned
  // atom, whose neighbours are all present; they stand for those of every other image.
  std::size_t begin = 0;
  for (int layer = 1; layer < options.layers_held; ++layer) {
    const std::size_t end = remote.owners().size();
    for (std::size_t k = begin; k < end; ++k) add(remote.images()[k]);
    begin = end;
  }

  if (options.every_atom) add_every_atom(communicator, graph, remote);

  std::vector<std::int64_t> rows(remote.owners().size());
  HaloPlan plan = build_halo_plan(communicator, graph.n_owned, remote.owners(), rows);
  graph.n_halo = plan.n_halo;
  graph.types.resize(static_cast<std::size_t>(graph.n_rows()));
  for (std::size_t k = 0; k < rows.size(); ++k)
    graph.types[static_cast<std::size_t>(rows[k])] = remote.types()[k];
  for (std::int32_t &row : list.atom_rows)
    if (row >= graph.n_owned)
      row = static_cast<std::int32_t>(rows[static_cast<std::size_t>(row - graph.n_owned)]);
    else if (row == kUnmet)
      row = CandidateList::kNoRow;
  if (options.layers_held > 1) sort_receivers(graph.n_owned, graph.n_rows(), rows, list);
  return plan;
}

}    // namespace mlip_dd
