// DFT-D3's reference values: C6 coefficients of molecules with known coordination numbers, and
// radii. They are no part of this program; a file is made from a package that ships them.
#pragma once

#include <string>
#include <vector>

namespace mlip_dd {

// Of the elements asked for, in their order; atomic units.
struct D3Reference {
  std::string source;                               // what the file says of its origin
  std::vector<double> covalent_radius;              // [n] Bohr, scaled so that R_ij = r_i + r_j
  std::vector<double> r4r2;                         // [n] sqrt of the ratio C8 / (3 C6), Bohr
  std::vector<std::vector<double>> coordination;    // [n][references of the element]
  std::vector<std::vector<double>> c6;    // [n * n][references of i * of j], Hartree Bohr^6
  std::vector<double> cutoff_radius;      // [n * n] of zero damping, Bohr

  std::size_t size() const { return r4r2.size(); }
};

// The file when a spec names none: $MLIP_DD_D3_REFERENCE, else
// $XDG_DATA_HOME/mlip-dd/dftd3-reference.json, else the same under ~/.local/share.
std::string usual_d3_reference();

// `file` empty: the usual one. Throws Error when the file is missing or not such a file, or lacks
// an element.
D3Reference read_d3_reference(const std::string &file, const std::vector<std::string> &elements);

}    // namespace mlip_dd
