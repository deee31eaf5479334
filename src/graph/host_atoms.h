// What the host program (LAMMPS) knows of its atoms, as views of its own arrays.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "halo/halo_plan.h"

namespace mlip_dd {

inline constexpr std::int64_t kNotInModel = -1;

// At a reneighbouring: local atoms first, then ghosts, each ghost one periodic image of an atom.
struct HostAtoms {
  std::int64_t n_local = 0;
  std::span<const double> positions;    // [n_local + ghosts, 3], Angstrom
  std::span<const std::int32_t>
      types;    // [n_local + ghosts] index into elements; < 0: not in the model
  std::span<const RowOwner>
      owners;    // [n_local + ghosts] rank and row; row kNotInModel: not in the model
};

// Neighbours of one host atom: host atom indices, periodic images as their own entries.
using NeighbourList = std::function<std::span<const std::int32_t>(std::int64_t atom)>;

struct Cell {
  std::array<double, 9>
      vectors{};    // lattice vectors in rows: cartesian = fractional * vectors + origin
  std::array<double, 3> origin{};
  std::array<bool, 3> periodic{true, true, true};
};

// One per-atom quantity of the host.
struct HostField {
  std::span<const double> values;    // [at least n_local, width]
  std::int64_t width = 1;
};

// At an evaluation: the same atoms, moved since then.
struct HostStep {
  std::span<const double> positions;          // [n_local + ghosts, 3], Angstrom
  std::map<std::string, HostField> fields;    // what atoms carry beside a position, by name
  Cell cell;
};

}    // namespace mlip_dd
