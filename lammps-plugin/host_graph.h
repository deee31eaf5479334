// LAMMPS's atoms and neighbour list as the core library wants them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/build.h"
#include "units.h"

namespace LAMMPS_NS {
class Atom;
class NeighList;
class Neighbor;
class Pair;
class LAMMPS;
}    // namespace LAMMPS_NS

namespace mlip_dd {

// Arrays that live from one reneighbouring to the next.
class HostGraph {
 public:
  // Not collective. Reads LAMMPS's atoms after they were exchanged, and numbers the owned rows.
  void read_atoms(const LAMMPS_NS::LAMMPS &lammps,
                  const std::vector<std::int32_t> &element_of_type);

  // Instead of it, from who else worked them out: each atom's element and owner, by rank and row.
  void set_atoms(std::span<const std::int64_t> elements, std::span<const std::int64_t> owners);

  // For LAMMPS's forward communication of owners: two numbers per atom.
  static constexpr int kOwnerNumbers = 2;
  int pack_owners(int n, const int *list, double *buffer) const;
  void unpack_owners(int n, int first, const double *buffer);

  // Views in the models' units, valid until the next call of either.
  HostAtoms atoms(const LAMMPS_NS::LAMMPS &lammps, const HostUnits &units);
  // Positions and box as they stand, and what atoms carry of `fields`: charges where the atom style
  // has them, and properties of fix property/atom that are called d_<field> or d2_<field>, as they
  // are. Positions only where they are wanted: elsewhere they may not be up to date.
  HostStep step(const LAMMPS_NS::LAMMPS &lammps, const HostUnits &units,
                const std::vector<std::string> &fields, bool wants_positions);

  NeighbourList neighbours(const LAMMPS_NS::NeighList &list);

  // Row of local atom i, or kNotInModel.
  std::int64_t row(int i) const { return owners_[static_cast<std::size_t>(i)].row; }

 private:
  std::vector<std::int32_t> types_;
  std::vector<RowOwner> owners_;
  std::vector<std::int32_t> numneigh_;      // by host atom; 0 where the list has none
  std::vector<std::int32_t> neighbours_;    // of the atom asked for last
  std::vector<double> positions_;           // LAMMPS's own, where its units are not the models'
  std::vector<double> charges_;

  std::span<const double> positions(const LAMMPS_NS::LAMMPS &lammps, const HostUnits &units);
};

// Bits of groups that are kept from all atoms: what fix gcmc does with an atom that it tries to
// delete. Such atoms are not there for the model; left in it, they would keep their own energy.
int groups_without_neighbours(const LAMMPS_NS::Neighbor &neighbor);

}    // namespace mlip_dd
