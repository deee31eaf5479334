// The real-space part of a lattice sum: pairs of charges within the cutoff, screened by
// erfc(alpha r). No torch.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/atom_graph.h"
#include "potentials/coulomb/screened_table.h"
#include "potentials/coulomb/sums.h"

namespace mlip_dd {

class RealSpaceSum {
 public:
  // `gpu`: where pairs are summed; -1: on the CPU, by `threads` threads.
  explicit RealSpaceSum(int gpu = -1, int threads = 1);
  ~RealSpaceSum();

  // Cheap where nothing changed.
  void set_parameters(double alpha, double cutoff);

  // At each reneighbouring. Of pairs of two owned atoms one direction is kept on the CPU.
  void set_candidates(const AtomGraph &graph);

  // Adds to `sums`. `positions` are the host's, `charges` those of all rows, `constant` in
  // eV Angstrom / e^2. Every pair counts in full for its owned ends, so nothing goes to halo rows.
  void add(std::span<const double> positions, std::span<const double> charges, double constant,
           const CoulombSums &sums);

 private:
  struct Pairs {
    std::vector<std::int64_t> offsets;    // [n_owned + 1]
    std::vector<std::int32_t> atoms;      // host atoms of the senders
    std::vector<std::int32_t> rows;
  };
  struct Near {    // the pairs of one receiver that are within the cutoff
    std::vector<double> x, y, z, squared, charge, value, derivative;
    std::vector<std::int32_t> rows;
    void resize(std::size_t n);
  };
  // What one thread has for itself: its rows' pairs end at rows of others, too.
  struct Share {
    Near near;
    std::vector<double> potential, forces, node_virial;
    std::array<double, 9> virial{};
  };
  std::size_t find_near(const Pairs &pairs, std::size_t row, const double *receiver,
                        std::span<const double> positions, std::span<const double> charges,
                        Near &near, std::size_t found) const;
  void add_rows(std::size_t begin, std::size_t end, std::span<const double> positions,
                std::span<const double> charges, double constant, Near &near,
                const CoulombSums &sums) const;

  class OnGpu;

  std::unique_ptr<OnGpu> on_gpu_;
  double alpha_ = 0.0;
  double cutoff_ = 0.0;
  ScreenedTable table_;
  std::vector<std::int32_t> owned_atoms_;
  Pairs mutual_;                 // both ends owned here, each pair once
  Pairs one_sided_;              // the sender is a halo row, or an image of the receiver
  std::size_t most_near_ = 0;    // pairs of one receiver
  int threads_;
  std::vector<Share> shares_;    // [threads]
};

}    // namespace mlip_dd
