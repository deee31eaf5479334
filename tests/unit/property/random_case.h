// A system, the ranks it is dealt out to, a model and the way its policy is carried out, all drawn
// from one seed; and how far the decomposed numbers are from those of one rank.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "pipeline/realisation.h"
#include "property/toy_model.h"
#include "support/virtual_system.h"

namespace mlip_dd::test {

struct RandomCase {
  std::uint64_t seed = 0;
  PeriodicSystem system;
  PeriodicSystem moved;    // the same atoms a little later, in a box that changed
  double cutoff = 3.0;
  double skin = 0.3;
  int ranks = 1;
  std::vector<int> owners;
  Toy toy;
  StoragePolicy policy;
  std::string halo;    // as the user asks
  Realisation realisation;
  std::string text;    // of all this
};

RandomCase draw_case(std::uint64_t seed);

// What a test may do to each rank's communicator; see ModelRun::wrap.
using Tampering = std::function<std::unique_ptr<Communicator>(Communicator &)>;

struct Deviation {
  double largest = 0.0;    // of all that is compared, each over one plus its largest value
  std::string where;       // what deviates most
  double forces = 0.0;     // the largest, so that there is something to compare
};

// Energies, forces, virials and gradients by charges on the case's ranks, against those of one
// rank.
Deviation deviation_of(const RandomCase &drawn, const Tampering &tampering = nullptr);

// What is wrong with the edges of all ranks together: an empty text where they are those of brute
// force over all pairs and images, each there once, and each with its reverse.
std::string fault_of_edges(const RandomCase &drawn);

}    // namespace mlip_dd::test
