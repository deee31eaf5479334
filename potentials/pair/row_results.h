// Where the CPU's kernels add what they find for owned rows, block by block. No torch.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

namespace mlip_dd {

struct PotentialOutput;

// Arrays of owned rows, added to. Pairs count half for each of their atoms.
struct RowResults {
  double *node_energy = nullptr;    // [n_owned] eV
  double *forces = nullptr;         // [n_owned, 3] eV/Angstrom
  double *node_virial = nullptr;    // [n_owned, 9] eV, or null
};

// What a block of rows adds to the rank's sums.
struct BlockTotals {
  double energy = 0.0;               // eV
  std::array<double, 9> virial{};    // eV, sum of x_a F_b
};

// Those of `output`: its tensors, which are the CPU's, or its arrays.
RowResults row_results(PotentialOutput &output);

// Adds what work(first row, row after the last) gives for the blocks of all rows, as
// for_each_block(), to the sums of `output`.
void add_blocks(std::int64_t n_rows, int threads,
                const std::function<BlockTotals(std::int64_t begin, std::int64_t end)> &work,
                PotentialOutput &output);

}    // namespace mlip_dd
