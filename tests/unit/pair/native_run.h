// Evaluates a potential on virtual ranks and puts the results back into the system's order.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph_source.h"
#include "spec/model_spec.h"
#include "support/virtual_system.h"

namespace mlip_dd::test {

struct NativeResult {
  double energy = 0.0;
  std::array<double, 9> virial{};
  std::vector<double> node_energy;    // [n]
  std::vector<double> forces;         // [n, 3]
  std::vector<double> node_virial;    // [n, 9]
};

struct NativeRun {
  int ranks = 1;
  std::vector<int> owners;    // [n]; empty: all on rank 0
  int threads = 1;
  double skin = 0.3;
  std::string device = "cpu";
  bool lanes = false;    // by the kernels of GPUs
  // Where the graph comes from, if not from the atoms' arrays.
  std::function<std::unique_ptr<GraphSource>(const VirtualRank &)> source = {};
};

// The plan is made and a first step evaluated at `system`; what is given are the results at `moved`
// (same atoms, displaced by less than half the skin).
NativeResult run_native(const ModelSpec &model, const PeriodicSystem &system,
                        const PeriodicSystem &moved, const NativeRun &run = {});

double largest_difference(const std::vector<double> &a, const std::vector<double> &b);
double largest_difference(const std::array<double, 9> &a, const std::array<double, 9> &b);

// Expects the same numbers as `expected` to within `tolerance` times their largest, and that these
// are not all zero.
void check_same(const NativeResult &found, const NativeResult &expected, double tolerance);

// Expects of the kernels of GPUs, run on the CPU, what its own give on one rank, after atoms have
// moved: on 1 and 3 ranks, for graphs of the host and of a device; and of its own there.
void check_kernels(const ModelSpec &model, const PeriodicSystem &system, double tolerance);

struct Box {
  std::int64_t atoms;
  Cell cell;
};

// Random atoms of `elements`, no two nearer than `apart`, in each box, that have moved since the
// plan was made: each number of ranks, with random owners and from three ranks on one without
// atoms, gives what one rank gives; three threads give the same bits.
void check_decompositions(const ModelSpec &model, const std::vector<Box> &boxes, double apart,
                          const std::vector<int> &rank_counts, double tolerance);

// Forces on some coordinates and all six strains against central differences of the energy on three
// ranks. `error` is that of the formula, absolute, in eV/Angstrom and eV.
void check_derivatives(const ModelSpec &model, const PeriodicSystem &system, double error);

// A golden file of tests/golden/numeric.
struct Golden {
  PeriodicSystem system;                // types index `elements`
  std::vector<std::string> elements;    // chemical symbols
  nlohmann::json tree;
};
Golden read_golden(const std::string &name);

// Numbers of any nesting, flat.
std::vector<double> flat(const nlohmann::json &numbers);

std::string golden_path(const std::string &name);

}    // namespace mlip_dd::test
