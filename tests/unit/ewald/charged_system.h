// Systems of charges for the tests of lattice sums: evaluation on virtual ranks, golden files, and
// comparisons by finite differences.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "spec/model_spec.h"
#include "support/virtual_system.h"

namespace mlip_dd::test {

// In the order of the system's atoms, whatever the ranks.
struct ChargedResult {
  double energy = 0.0;
  std::array<double, 9> virial{};
  std::vector<double> node_energy, forces, node_virial, charge_gradient;
  std::vector<std::string> description;    // of rank 0
};

// How a potential is made to compute: by the CPU's kernels or, on the CPU too, by those of GPUs; on
// the atoms' arrays, or on a graph of tensors.
struct Way {
  bool lanes = false;
  bool device_graph = false;
};
inline constexpr Way kWays[] = {{false, false}, {true, false}, {false, true}, {true, true}};

// Builds graphs for `system` and evaluates each of `steps` (moved, strained or recharged copies) in
// turn with one potential per rank; the results of all of them.
std::vector<ChargedResult> evaluate_steps(const ModelSpec &model, const PeriodicSystem &system,
                                          const std::vector<PeriodicSystem> &steps, int ranks,
                                          const std::vector<int> &owners, int threads = 1,
                                          const Way &way = {});

// Atoms on `ranks` at random.
ChargedResult evaluate_on(int ranks, const ModelSpec &model, const PeriodicSystem &system,
                          const Way &way = {});

// On one rank.
ChargedResult evaluate_one(const ModelSpec &model, const PeriodicSystem &system,
                           const Way &way = {});

// potential, cutoff and parameters; elements Na, Cl.
ModelSpec charged_model(const std::string &potential, double cutoff,
                        const nlohmann::json &parameters);

// `n` charges +1, -1 alternating (with `net` added to each) in `cell`, at random.
PeriodicSystem random_charges(unsigned seed, std::int64_t n, const Cell &cell, double net = 0.0);

// Charges on a lattice: `sites` are fractional positions.
PeriodicSystem crystal(const Cell &cell, const std::vector<std::array<double, 3>> &sites,
                       const std::vector<double> &charges);

// Positions and cell times (1 + strain), strain a symmetric or any 3 x 3 tensor, row vectors.
PeriodicSystem strained(const PeriodicSystem &system, const std::array<double, 9> &strain);

// A file of tests/golden/numeric and the system in it.
nlohmann::json golden_numbers(const std::string &name);
PeriodicSystem golden_system(const nlohmann::json &golden);
std::vector<double> flat(const nlohmann::json &nested);

double largest_difference(const std::vector<double> &a, const std::vector<double> &b);
double root_mean_square(const std::vector<double> &values);

// Largest deviations of forces, of the virial (six strains and their rotations) and of the charge
// gradient from central differences of the energy, over the RMS of what is compared.
struct Deviations {
  double forces = 0.0;
  double virial = 0.0;
  double charge_gradient = 0.0;
};
Deviations finite_differences(const ModelSpec &model, const PeriodicSystem &system,
                              const Way &way = {});

}    // namespace mlip_dd::test
