// The `model` object of a spec file: which potential computes, from which file, with which names
// for its inputs and outputs. Ours, beside the version-2 wire format; no torch, no LAMMPS.
#pragma once

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mlip_dd {

inline std::vector<std::string> default_autograd_outputs()
{
  return {"forces", "stress", "virial"};
}

// As read, with the family's defaults filled in and `file` made absolute. Lengths in Angstrom,
// energies in eV unless `units` says otherwise.
struct ModelSpec {
  std::string potential;    // "torchscript", "lj", ...; required
  std::string family;       // names a row of the family table; torch potentials only
  std::string file;         // absolute path of the model file; empty for native potentials
  std::vector<std::string> committee;    // files of further members, trained alike; see `file`
  std::optional<double> cutoff;          // > 0; required unless the potential chooses its own
  std::optional<int> layers;             // rounds of message passing, >= 0; needed by a wide halo
  std::vector<std::string> elements;     // chemical symbols in the order of the model's type index
  std::string units = "metal";           // the model's units, by LAMMPS's name
  std::string dtype;                     // "float32", "float64", or empty for the file's own
  std::map<std::string, std::string> inputs;     // our name -> dict key, argument or position
  std::map<std::string, std::string> outputs;    // our name -> dict key or position
  // Those of the outputs that the model makes by differentiating its energy.
  std::vector<std::string> autograd_outputs = default_autograd_outputs();
  std::vector<std::string> libraries;    // shared libraries that register the model's operators
  std::vector<std::string> citations;    // what to cite for the model: BibTeX, one entry each
  nlohmann::json parameters = nlohmann::json::object();    // the potential's own, checked by it,
                                                           // a file's path made absolute

  bool operator==(const ModelSpec &) const = default;
};

}    // namespace mlip_dd
