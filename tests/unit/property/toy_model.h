// Small models drawn at random: what message-passing models do, in a few lines.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "spec/mlip_spec.h"
#include "spec/model_spec.h"

namespace mlip_dd::test {

enum class ToyForm {
  edge_vectors,
  positions,       // with lattice shifts and cell
  forces_inside    // the same, with forces and virial made by the model
};

struct Toy {
  ToyForm form = ToyForm::edge_vectors;
  int depth = 1;                   // rounds of message passing
  int width = 3;                   // numbers per atom and layer
  int way = 0;                     // of adding messages into receivers, see kToyWays
  bool sends_back = false;         // adds into senders too
  bool system_sums = false;        // each layer reads a sum over all atoms
  bool custom_operator = false;    // messages by an operator of a library
  bool charges = false;            // takes charges, and is differentiated by them
  unsigned seed = 0;               // of its weights
};

inline constexpr int kToyWays = 4;

// What a realisation allows is for the caller to see to.
Toy draw_toy(std::mt19937_64 &random);

std::string describe(const Toy &toy);

// The model's source, float64, for edges of this cutoff.
std::string source_of(const Toy &toy, double cutoff);

// The model in `file`, written there.
ModelSpec write_toy(const Toy &toy, double cutoff, const std::string &file);

// The adapters that it needs.
std::vector<OpAdapter> adapters_of(const Toy &toy);

}    // namespace mlip_dd::test
