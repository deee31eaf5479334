// Which potentials a `model` object may name, and what each needs of it. Data, like the families.
#pragma once

#include <span>
#include <string_view>

namespace mlip_dd {

struct PotentialInfo {
  std::string_view name;
  std::string_view purpose;    // one line for listings
  bool has_file;               // reads a model file, of some family; else computed natively
  bool needs_cutoff;           // false: it chooses its own where none is given
  std::string_view file_parameter = {};    // which of its "parameters" names a file; empty: none
};

std::span<const PotentialInfo> known_potentials();

// nullptr when there is no such potential.
const PotentialInfo *find_potential(std::string_view name);

// For messages and spelling hints.
std::span<const std::string_view> potential_names();

}    // namespace mlip_dd
