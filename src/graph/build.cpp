#include "graph/build.h"

#include <algorithm>
#include <unordered_map>

namespace mlip_dd {

namespace {

constexpr std::int32_t kNoImage = -1;

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

void add_candidates(const HostAtoms &atoms, std::span<const std::int32_t> neighbours, int rank,
                    std::int32_t receiver_atom, std::int64_t receiver_row, double reach,
                    RemoteAtoms &remote, std::vector<CandidateEdge> &candidates)
{
  const double reach_squared = reach * reach;
  const double *receiver = &atoms.positions[3 * static_cast<std::size_t>(receiver_atom)];
  for (const std::int32_t sender_atom : neighbours) {
    const RowOwner &owner = atoms.owners[static_cast<std::size_t>(sender_atom)];
    if (owner.row == kNotInModel) continue;
    const double *sender = &atoms.positions[3 * static_cast<std::size_t>(sender_atom)];
    const double x = sender[0] - receiver[0];
    const double y = sender[1] - receiver[1];
    const double z = sender[2] - receiver[2];
    if (x * x + y * y + z * z >= reach_squared) continue;
    const std::int64_t sender_row =
        owner.rank == rank
            ? owner.row
            : remote.row_of(owner, sender_atom, atoms.types[static_cast<std::size_t>(sender_atom)]);
    candidates.push_back({receiver_atom, sender_atom, receiver_row, sender_row});
  }
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
  graph.candidates.clear();
  graph.types.clear();
  graph.owned_atoms.clear();
  for (std::size_t i = 0; i < static_cast<std::size_t>(atoms.n_local); ++i)
    if (atoms.owners[i].row != kNotInModel) {
      graph.types.push_back(atoms.types[i]);
      graph.owned_atoms.push_back(static_cast<std::int32_t>(i));
    }
  graph.n_owned = static_cast<std::int64_t>(graph.owned_atoms.size());

  RemoteAtoms remote(graph.n_owned);
  for (std::int64_t i = 0; i < atoms.n_local; ++i) {
    const RowOwner &owner = atoms.owners[static_cast<std::size_t>(i)];
    if (owner.row == kNotInModel) continue;
    add_candidates(atoms, neighbours(i), rank, static_cast<std::int32_t>(i), owner.row,
                   options.reach, remote, graph.candidates);
  }
  // Layer by layer outwards. An atom is met first through the image fewest edges away from an owned
  // atom, whose neighbours are all present; they stand for those of every other image.
  std::size_t begin = 0;
  for (int layer = 1; layer < options.layers_held; ++layer) {
    const std::size_t end = remote.owners().size();
    for (std::size_t k = begin; k < end; ++k) {
      const std::int32_t image = remote.images()[k];
      add_candidates(atoms, neighbours(image), rank, image,
                     graph.n_owned + static_cast<std::int64_t>(k), options.reach, remote,
                     graph.candidates);
    }
    begin = end;
  }

  if (options.every_atom) add_every_atom(communicator, graph, remote);

  std::vector<std::int64_t> rows(remote.owners().size());
  HaloPlan plan = build_halo_plan(communicator, graph.n_owned, remote.owners(), rows);
  graph.n_halo = plan.n_halo;
  graph.types.resize(static_cast<std::size_t>(graph.n_rows()));
  for (std::size_t k = 0; k < rows.size(); ++k)
    graph.types[static_cast<std::size_t>(rows[k])] = remote.types()[k];
  const auto final_row = [&](std::int64_t row) {
    return row < graph.n_owned ? row : rows[static_cast<std::size_t>(row - graph.n_owned)];
  };
  // Candidates fill more memory than anything else here, so none is read again without need.
  if (!rows.empty())
    for (CandidateEdge &edge : graph.candidates) {
      edge.receiver_row = final_row(edge.receiver_row);
      edge.sender_row = final_row(edge.sender_row);
    }
  const auto by_receiver = [](const CandidateEdge &a, const CandidateEdge &b) {
    return a.receiver_row < b.receiver_row;
  };
  // Owned rows come in order; only those of further layers may not.
  if (options.layers_held > 1 &&
      !std::is_sorted(graph.candidates.begin(), graph.candidates.end(), by_receiver))
    std::stable_sort(graph.candidates.begin(), graph.candidates.end(), by_receiver);
  return plan;
}

}    // namespace mlip_dd
