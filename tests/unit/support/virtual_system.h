// A periodic system dealt out to virtual ranks by any assignment of owners, with ghosts and
// neighbour lists made by brute force: what LAMMPS would hand over, without LAMMPS.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "graph/host_atoms.h"

namespace mlip_dd::test {

struct PeriodicSystem {
  std::vector<double> positions;      // [n, 3]
  std::vector<std::int32_t> types;    // [n]
  std::vector<double> charges;        // [n]; may be empty
  Cell cell;

  std::int64_t size() const { return static_cast<std::int64_t>(types.size()); }
};

// `n` atoms at random fractional positions in `cell`, no two closer than `closest` (images
// included), with types drawn from [0, n_types). Throws std::runtime_error when they do not fit.
PeriodicSystem random_system(std::mt19937_64 &random, std::int64_t n, const Cell &cell, int n_types,
                             double closest);

// An orthogonal cell, or one with tilts up to `tilt` of the lengths.
Cell orthogonal_cell(double x, double y, double z);
Cell tilted_cell(double x, double y, double z, double tilt);

// Every translation that can bring an atom of the cell within `reach` of another one.
std::vector<std::array<int, 3>> translations(const Cell &cell, double reach);

// Owners drawn at random among `ranks`, each rank in `empty` left out.
std::vector<int> random_owners(std::mt19937_64 &random, std::int64_t n, int ranks,
                               const std::vector<int> &empty = {});

// Each atom with the rank after its own.
std::vector<int> next_ranks(std::vector<int> owners, int ranks);

// One rank's view: its atoms in the order of the system, then every image within `reach` of one of
// them.
class VirtualRank {
 public:
  VirtualRank(const PeriodicSystem &system, const std::vector<int> &owners, int rank, double reach);

  HostAtoms atoms() const;
  HostStep step() const;
  // All host atoms within `reach` of one, itself left out; ghosts have lists too.
  NeighbourList neighbours() const;

  std::int64_t n_owned() const { return n_local_; }
  // Index in the system of an owned row.
  std::int64_t global(std::int64_t row) const { return index_[static_cast<std::size_t>(row)]; }
  // Distinct atoms owned elsewhere within `distance` (< reach) of an owned atom.
  std::int64_t remote_atoms_within(double distance) const;

  // Takes new positions and charges (same atoms, same owners, same images) and a new cell from
  // `system`.
  void move(const PeriodicSystem &system);

 private:
  double reach_;
  int rank_;
  std::int64_t n_local_ = 0;
  Cell cell_;
  std::vector<std::int64_t> index_;           // host atom -> system atom
  std::vector<std::array<int, 3>> images_;    // lattice translation of each host atom
  std::vector<double> positions_;
  bool charged_ = false;
  std::vector<double> charges_;
  std::vector<std::int32_t> types_;
  std::vector<RowOwner> owners_;
};

}    // namespace mlip_dd::test
