#include "host_graph.h"

#include <atom.h>
#include <comm.h>
#include <domain.h>
#include <lammps.h>
#include <neigh_list.h>
#include <neighbor.h>

#include <algorithm>
#include <optional>

namespace mlip_dd {

namespace {

constexpr int kEverybody = 0;    // LAMMPS's number for the group `all`

// `values`, or `scratch` with them in another unit.
std::span<const double> in_unit(std::span<const double> values, double unit,
                                std::vector<double> &scratch)
{
  if (unit == 1.0) return values;
  scratch.resize(values.size());
  std::transform(values.begin(), values.end(), scratch.begin(),
                 [unit](double value) { return unit * value; });
  return scratch;
}

std::optional<HostField> property(LAMMPS_NS::Atom &atom, const std::string &name)
{
  const auto n = static_cast<std::size_t>(atom.nlocal);
  int is_double = 0, columns = 0;
  const int index = atom.find_custom(name.c_str(), is_double, columns);
  if (index < 0 || !is_double) return std::nullopt;
  if (columns == 0) return HostField{{atom.dvector[index], n}, 1};
  const auto width = static_cast<std::size_t>(columns);
  return HostField{
      n ? std::span<const double>(atom.darray[index][0], n * width) : std::span<const double>(),
      columns};
}

}    // namespace

int groups_without_neighbours(const LAMMPS_NS::Neighbor &neighbor)
{
  int bits = 0;
  for (int k = 0; k < neighbor.nex_group; ++k) {
    if (neighbor.ex2_group[k] == kEverybody) bits |= neighbor.ex1_bit[k];
    if (neighbor.ex1_group[k] == kEverybody) bits |= neighbor.ex2_bit[k];
  }
  return bits;
}

std::span<const double> HostGraph::positions(const LAMMPS_NS::LAMMPS &lammps,
                                             const HostUnits &units)
{
  const LAMMPS_NS::Atom &atom = *lammps.atom;
  const auto all = static_cast<std::size_t>(atom.nlocal + atom.nghost);
  if (all == 0) return {};
  return in_unit({atom.x[0], 3 * all}, units.length, positions_);
}

HostStep HostGraph::step(const LAMMPS_NS::LAMMPS &lammps, const HostUnits &units,
                         const std::vector<std::string> &fields, bool wants_positions)
{
  const LAMMPS_NS::Domain &domain = *lammps.domain;
  LAMMPS_NS::Atom &atom = *lammps.atom;
  HostStep step;
  if (wants_positions) step.positions = positions(lammps, units);
  for (const std::string &field : fields)
    if (field == "charges") {
      if (atom.q_flag)
        step.fields[field] = {
            in_unit({atom.q, static_cast<std::size_t>(atom.nlocal)}, units.charge, charges_), 1};
    } else if (const auto found = property(atom, field)) {
      step.fields[field] = *found;
    }
  step.cell.vectors = {domain.xprd, 0.0,       0.0,       domain.xy,  domain.yprd,
                       0.0,         domain.xz, domain.yz, domain.zprd};
  step.cell.origin = {domain.boxlo[0], domain.boxlo[1], domain.boxlo[2]};
  for (double &component : step.cell.vectors) component *= units.length;
  for (double &component : step.cell.origin) component *= units.length;
  step.cell.periodic = {domain.xperiodic != 0, domain.yperiodic != 0, domain.zperiodic != 0};
  return step;
}

void HostGraph::read_atoms(const LAMMPS_NS::LAMMPS &lammps,
                           const std::vector<std::int32_t> &element_of_type)
{
  const LAMMPS_NS::Atom &atom = *lammps.atom;
  const auto all = static_cast<std::size_t>(atom.nlocal + atom.nghost);
  types_.resize(all);
  const int left_out = groups_without_neighbours(*lammps.neighbor);
  for (std::size_t i = 0; i < all; ++i)
    types_[i] = atom.mask[i] & left_out ? static_cast<std::int32_t>(kNotInModel)
                                        : element_of_type[static_cast<std::size_t>(atom.type[i])];

  std::vector<std::int64_t> rows(static_cast<std::size_t>(atom.nlocal));
  number_owned_rows(types_, atom.nlocal, rows);
  owners_.assign(all, {lammps.comm->me, kNotInModel});
  for (std::size_t i = 0; i < rows.size(); ++i) owners_[i].row = rows[i];
}

void HostGraph::set_atoms(std::span<const std::int64_t> elements,
                          std::span<const std::int64_t> owners)
{
  types_.assign(elements.begin(), elements.end());
  owners_.resize(types_.size());
  for (std::size_t i = 0; i < owners_.size(); ++i)
    owners_[i] = {static_cast<int>(owners[2 * i]), owners[2 * i + 1]};
}

int HostGraph::pack_owners(int n, const int *list, double *buffer) const
{
  int m = 0;
  for (int k = 0; k < n; ++k) {
    const RowOwner &owner = owners_[static_cast<std::size_t>(list[k])];
    buffer[m++] = owner.rank;
    buffer[m++] = static_cast<double>(owner.row);
  }
  return m;
}

void HostGraph::unpack_owners(int n, int first, const double *buffer)
{
  for (int k = 0; k < n; ++k) {
    RowOwner &owner = owners_[static_cast<std::size_t>(first + k)];
    owner.rank = static_cast<int>(buffer[2 * k]);
    owner.row = static_cast<std::int64_t>(buffer[2 * k + 1]);
  }
}

HostAtoms HostGraph::atoms(const LAMMPS_NS::LAMMPS &lammps, const HostUnits &units)
{
  return {lammps.atom->nlocal, positions(lammps, units), types_, owners_};
}

NeighbourList HostGraph::neighbours(const LAMMPS_NS::NeighList &list)
{
  // A list may cover some atoms only (hybrid styles); the others' entries are undefined.
  numneigh_.assign(types_.size(), 0);
  const int listed = list.inum + (list.ghost ? list.gnum : 0);
  for (int k = 0; k < listed; ++k) {
    const int i = list.ilist[k];
    numneigh_[static_cast<std::size_t>(i)] = list.numneigh[i];
  }
  return [this, &list](std::int64_t i) -> std::span<const std::int32_t> {
    const auto count = static_cast<std::size_t>(numneigh_[static_cast<std::size_t>(i)]);
    neighbours_.resize(count);
    for (std::size_t k = 0; k < count; ++k) neighbours_[k] = list.firstneigh[i][k] & NEIGHMASK;
    return neighbours_;
  };
}

}    // namespace mlip_dd
