// Systems for tests of DFT-D3, and its published formulas one after another, in atomic units: no
// weights per atom, no tables, no lists.
#pragma once

#include <string>
#include <vector>

#include "pair/native_run.h"

namespace mlip_dd::test {

// With the golden file of reference values.
ModelSpec d3_model(nlohmann::json parameters, double cutoff, std::vector<std::string> elements);

// Of carbon, hydrogen and oxygen, with pbe's numbers.
ModelSpec organic(const std::string &damping, double switch_width, double cutoff = 5.0);
PeriodicSystem organic_system(std::uint64_t seed, std::int64_t atoms = 24);

// eV. Of pairs without switches, with pbe's numbers.
double plain_energy(const ModelSpec &model, const PeriodicSystem &system);
// eV. Of triples whose three sides are shorter than `cutoff`, without switches, s9 = 1.
double plain_three_body(const ModelSpec &model, const PeriodicSystem &system, double cutoff);

}    // namespace mlip_dd::test
