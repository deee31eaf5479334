#include "support/virtual_system.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

namespace mlip_dd::test {

namespace {

std::array<double, 3> translated(const double *position, const Cell &cell,
                                 const std::array<int, 3> &image)
{
  std::array<double, 3> result{};
  for (std::size_t b = 0; b < 3; ++b) {
    result[b] = position[b];
    for (std::size_t a = 0; a < 3; ++a) result[b] += image[a] * cell.vectors[3 * a + b];
  }
  return result;
}

double distance_squared(const double *a, const double *b)
{
  double total = 0.0;
  for (std::size_t c = 0; c < 3; ++c) total += (a[c] - b[c]) * (a[c] - b[c]);
  return total;
}

// Distance between opposite faces, per axis.
std::array<double, 3> face_distances(const Cell &cell)
{
  const auto &h = cell.vectors;
  std::array<double, 3> distances{};
  for (std::size_t a = 0; a < 3; ++a) {
    const double *u = &h[3 * ((a + 1) % 3)];
    const double *v = &h[3 * ((a + 2) % 3)];
    const std::array<double, 3> normal{u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                                       u[0] * v[1] - u[1] * v[0]};
    double length = 0.0, volume = 0.0;
    for (std::size_t c = 0; c < 3; ++c) {
      length += normal[c] * normal[c];
      volume += h[3 * a + c] * normal[c];
    }
    distances[a] = std::abs(volume) / std::sqrt(length);
  }
  return distances;
}

}    // namespace

std::vector<std::array<int, 3>> translations(const Cell &cell, double reach)
{
  std::array<int, 3> most{};
  const auto faces = face_distances(cell);
  for (std::size_t a = 0; a < 3; ++a)
    most[a] = cell.periodic[a] ? static_cast<int>(std::ceil(reach / faces[a])) + 1 : 0;
  std::vector<std::array<int, 3>> list;
  for (int i = -most[0]; i <= most[0]; ++i)
    for (int j = -most[1]; j <= most[1]; ++j)
      for (int k = -most[2]; k <= most[2]; ++k) list.push_back({i, j, k});
  return list;
}

Cell orthogonal_cell(double x, double y, double z) { return tilted_cell(x, y, z, 0.0); }

Cell tilted_cell(double x, double y, double z, double tilt)
{
  Cell cell;
  cell.vectors = {x, 0.0, 0.0, tilt * x, y, 0.0, -0.7 * tilt * x, 0.4 * tilt * y, z};
  return cell;
}

PeriodicSystem random_system(std::mt19937_64 &random, std::int64_t n, const Cell &cell, int n_types,
                             double closest)
{
  constexpr int kTries = 20000;
  PeriodicSystem system;
  system.cell = cell;
  std::uniform_real_distribution<double> fraction(0.0, 1.0);
  std::uniform_int_distribution<std::int32_t> type(0, n_types - 1);
  const auto images = translations(cell, closest);
  for (int tries = 0; system.size() < n; ++tries) {
    if (tries > kTries) throw std::runtime_error("the atoms do not fit into the cell");
    std::array<double, 3> position = cell.origin;
    for (std::size_t a = 0; a < 3; ++a) {
      const double f = fraction(random);
      for (std::size_t b = 0; b < 3; ++b) position[b] += f * cell.vectors[3 * a + b];
    }
    bool free = true;
    for (std::size_t i = 0; free && i < system.types.size(); ++i)
      for (const auto &image : images) {
        const auto other = translated(&system.positions[3 * i], cell, image);
        if (distance_squared(position.data(), other.data()) < closest * closest) free = false;
      }
    if (!free) continue;
    system.positions.insert(system.positions.end(), position.begin(), position.end());
    system.types.push_back(type(random));
  }
  return system;
}

std::vector<int> random_owners(std::mt19937_64 &random, std::int64_t n, int ranks,
                               const std::vector<int> &empty)
{
  std::vector<int> allowed;
  for (int rank = 0; rank < ranks; ++rank)
    if (std::find(empty.begin(), empty.end(), rank) == empty.end()) allowed.push_back(rank);
  std::uniform_int_distribution<std::size_t> draw(0, allowed.size() - 1);
  std::vector<int> owners(static_cast<std::size_t>(n));
  for (int &owner : owners) owner = allowed[draw(random)];
  return owners;
}

std::vector<int> next_ranks(std::vector<int> owners, int ranks)
{
  for (int &owner : owners) owner = (owner + 1) % ranks;
  return owners;
}

VirtualRank::VirtualRank(const PeriodicSystem &system, const std::vector<int> &owners, int rank,
                         double reach)
    : reach_(reach), rank_(rank), cell_(system.cell), charged_(!system.charges.empty())
{
  const auto n = static_cast<std::size_t>(system.size());
  std::vector<std::int64_t> row(n),
      rows_of_rank(1 + static_cast<std::size_t>(*std::max_element(owners.begin(), owners.end())));
  for (std::size_t i = 0; i < n; ++i) row[i] = rows_of_rank[static_cast<std::size_t>(owners[i])]++;

  const auto add = [&](std::size_t i, const std::array<int, 3> &image,
                       const std::array<double, 3> &position) {
    index_.push_back(static_cast<std::int64_t>(i));
    images_.push_back(image);
    positions_.insert(positions_.end(), position.begin(), position.end());
    if (!system.charges.empty()) charges_.push_back(system.charges[i]);
    types_.push_back(system.types[i]);
    owners_.push_back({owners[i], row[i]});
  };
  for (std::size_t i = 0; i < n; ++i)
    if (owners[i] == rank)
      add(i, {0, 0, 0}, translated(&system.positions[3 * i], cell_, {0, 0, 0}));
  n_local_ = static_cast<std::int64_t>(index_.size());
  for (const auto &image : translations(cell_, reach))
    for (std::size_t i = 0; i < n; ++i) {
      if (owners[i] == rank && image == std::array<int, 3>{0, 0, 0}) continue;
      const auto position = translated(&system.positions[3 * i], cell_, image);
      for (std::int64_t k = 0; k < n_local_; ++k)
        if (distance_squared(position.data(), &positions_[3 * static_cast<std::size_t>(k)]) <
            reach * reach) {
          add(i, image, position);
          break;
        }
    }
}

HostAtoms VirtualRank::atoms() const { return {n_local_, positions_, types_, owners_}; }

HostStep VirtualRank::step() const
{
  HostStep step{positions_, {}, cell_};
  if (charged_) step.fields["charges"] = {charges_, 1};
  return step;
}

NeighbourList VirtualRank::neighbours() const
{
  return [this, found = std::vector<std::int32_t>()](
             std::int64_t atom) mutable -> std::span<const std::int32_t> {
    found.clear();
    for (std::size_t k = 0; k < index_.size(); ++k)
      if (static_cast<std::int64_t>(k) != atom &&
          distance_squared(&positions_[3 * k], &positions_[3 * static_cast<std::size_t>(atom)]) <
              reach_ * reach_)
        found.push_back(static_cast<std::int32_t>(k));
    return found;
  };
}

std::int64_t VirtualRank::remote_atoms_within(double distance) const
{
  std::set<std::int64_t> atoms;
  for (std::size_t k = static_cast<std::size_t>(n_local_); k < index_.size(); ++k) {
    if (owners_[k].rank == rank_) continue;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n_local_); ++i)
      if (distance_squared(&positions_[3 * k], &positions_[3 * i]) < distance * distance)
        atoms.insert(index_[k]);
  }
  return static_cast<std::int64_t>(atoms.size());
}

void VirtualRank::move(const PeriodicSystem &system)
{
  cell_ = system.cell;
  for (std::size_t k = 0; k < charges_.size(); ++k)
    charges_[k] = system.charges[static_cast<std::size_t>(index_[k])];
  for (std::size_t k = 0; k < index_.size(); ++k) {
    const auto position =
        translated(&system.positions[3 * static_cast<std::size_t>(index_[k])], cell_, images_[k]);
    std::copy(position.begin(), position.end(),
              positions_.begin() + static_cast<std::ptrdiff_t>(3 * k));
  }
}

}    // namespace mlip_dd::test
