#include "dftd3/d3_cases.h"

#include <array>
#include <cmath>
#include <random>

#include "potentials/dftd3/d3_reference.h"

namespace mlip_dd::test {

namespace {

constexpr double kAngstrom = 1.0 / 0.529177210544, kElectronvolt = 27.211386245981;

std::size_t type_of(const PeriodicSystem &system, std::size_t i)
{
  return static_cast<std::size_t>(system.types[i]);
}

struct PlainPair {
  std::size_t i, j;
  std::array<double, 3> vector;    // from i to j, Angstrom
  double r;
};

// Every ordered pair of atoms and images closer than `reach`.
std::vector<PlainPair> plain_pairs(const PeriodicSystem &system, double reach)
{
  const auto &h = system.cell.vectors;
  std::vector<PlainPair> pairs;
  for (std::size_t i = 0; i < system.types.size(); ++i)
    for (std::size_t j = 0; j < system.types.size(); ++j)
      for (int a = -4; a <= 4; ++a)
        for (int b = -4; b <= 4; ++b)
          for (int c = -4; c <= 4; ++c) {
            if (i == j && a == 0 && b == 0 && c == 0) continue;
            std::array<double, 3> vector{};
            double squared = 0.0;
            for (std::size_t d = 0; d < 3; ++d) {
              vector[d] = system.positions[3 * j + d] - system.positions[3 * i + d] + a * h[d] +
                          b * h[3 + d] + c * h[6 + d];
              squared += vector[d] * vector[d];
            }
            if (squared < reach * reach) pairs.push_back({i, j, vector, std::sqrt(squared)});
          }
  return pairs;
}

std::size_t nearest(const std::vector<double> &references, double coordination)
{
  std::size_t best = 0;
  for (std::size_t p = 0; p < references.size(); ++p)
    if (std::abs(references[p] - coordination) < std::abs(references[best] - coordination))
      best = p;
  return best;
}

std::vector<double> coordination_numbers(const D3Reference &reference, const PeriodicSystem &system,
                                         double reach)
{
  std::vector<double> coordination(system.types.size(), 0.0);
  for (const PlainPair &pair : plain_pairs(system, reach))
    coordination[pair.i] +=
        1.0 / (1.0 + std::exp(-16.0 * ((reference.covalent_radius[type_of(system, pair.i)] +
                                        reference.covalent_radius[type_of(system, pair.j)]) /
                                           (pair.r * kAngstrom) -
                                       1.0)));
  return coordination;
}

// Hartree Bohr^6, of atoms of types a and b with these coordination numbers.
double c6_of(const D3Reference &reference, std::size_t a, std::size_t b, double coordination_a,
             double coordination_b)
{
  const auto &cn_a = reference.coordination[a], &cn_b = reference.coordination[b];
  const std::vector<double> &c6 = reference.c6[a * reference.size() + b];
  double weights = 0.0, weighted = 0.0;
  for (std::size_t p = 0; p < cn_a.size(); ++p)
    for (std::size_t q = 0; q < cn_b.size(); ++q) {
      const double weight = std::exp(
          -4.0 * (std::pow(coordination_a - cn_a[p], 2) + std::pow(coordination_b - cn_b[q], 2)));
      weights += weight;
      weighted += weight * c6[p * cn_b.size() + q];
    }
  // Far from all references the weights are zero in this arithmetic: the nearest one is the limit.
  if (weights == 0.0)
    return c6[nearest(cn_a, coordination_a) * cn_b.size() + nearest(cn_b, coordination_b)];
  return weighted / weights;
}

}    // namespace

ModelSpec d3_model(nlohmann::json parameters, double cutoff, std::vector<std::string> elements)
{
  ModelSpec model;
  model.potential = "dftd3";
  model.cutoff = cutoff;
  model.elements = std::move(elements);
  model.parameters = {{"reference", golden_path("dftd3_reference_subset.json")}};
  model.parameters.update(parameters);
  return model;
}

ModelSpec organic(const std::string &damping, double switch_width, double cutoff)
{
  return d3_model({{"functional", "pbe"}, {"damping", damping}, {"switch_width", switch_width}},
                  cutoff, {"C", "H", "O"});
}

PeriodicSystem organic_system(std::uint64_t seed, std::int64_t atoms)
{
  std::mt19937_64 random(seed);
  return random_system(random, atoms, tilted_cell(7, 8, 7.5, 0.25), 3, 1.1);
}

double plain_energy(const ModelSpec &model, const PeriodicSystem &system)
{
  const D3Reference reference = read_d3_reference(model.parameters["reference"], model.elements);
  const std::vector<double> coordination = coordination_numbers(reference, system, *model.cutoff);
  double total = 0.0;
  for (const PlainPair &pair : plain_pairs(system, *model.cutoff)) {
    const std::size_t a = type_of(system, pair.i), b = type_of(system, pair.j);
    const double c6 = c6_of(reference, a, b, coordination[pair.i], coordination[pair.j]);
    const double r = pair.r * kAngstrom;
    const double c8 = 3.0 * c6 * reference.r4r2[a] * reference.r4r2[b];
    if (model.parameters["damping"] == "bj") {
      const double r0 = 0.4289 * std::sqrt(c8 / c6) + 4.4407;
      total -= c6 / (std::pow(r, 6) + std::pow(r0, 6)) +
               0.7875 * c8 / (std::pow(r, 8) + std::pow(r0, 8));
    } else {
      const double r0 = reference.cutoff_radius[a * reference.size() + b];
      total -= c6 / std::pow(r, 6) / (1.0 + 6.0 * std::pow(r / (1.217 * r0), -14)) +
               0.722 * c8 / std::pow(r, 8) / (1.0 + 6.0 * std::pow(r / r0, -16));
    }
  }
  return 0.5 * total * kElectronvolt;
}

double plain_three_body(const ModelSpec &model, const PeriodicSystem &system, double cutoff)
{
  const D3Reference reference = read_d3_reference(model.parameters["reference"], model.elements);
  const std::vector<double> coordination = coordination_numbers(reference, system, *model.cutoff);
  const std::vector<PlainPair> pairs = plain_pairs(system, cutoff);
  const auto c6 = [&](std::size_t i, std::size_t j) {
    return c6_of(reference, type_of(system, i), type_of(system, j), coordination[i],
                 coordination[j]);
  };
  const auto radius = [&](std::size_t i, std::size_t j) {
    return reference.cutoff_radius[type_of(system, i) * reference.size() + type_of(system, j)];
  };
  double total = 0.0;
  for (const PlainPair &ij : pairs)
    for (const PlainPair &ik : pairs) {
      if (ij.i != ik.i || &ij == &ik) continue;
      double dot = 0.0, squared = 0.0;
      for (std::size_t d = 0; d < 3; ++d) {
        dot += ij.vector[d] * ik.vector[d];
        squared += std::pow(ik.vector[d] - ij.vector[d], 2);
      }
      const double jk = std::sqrt(squared);
      if (jk >= cutoff) continue;
      const double at_i = dot / (ij.r * ik.r);
      const double at_j = (ij.r * ij.r - dot) / (ij.r * jk);
      const double at_k = (ik.r * ik.r - dot) / (ik.r * jk);
      const double product = ij.r * ik.r * jk * std::pow(kAngstrom, 3);
      const double mean =
          std::cbrt(product / (radius(ij.i, ij.j) * radius(ij.i, ik.j) * radius(ij.j, ik.j)));
      const double damping = 1.0 / (1.0 + 6.0 * std::pow(0.75 * mean, -16));
      total += std::sqrt(c6(ij.i, ij.j) * c6(ij.i, ik.j) * c6(ij.j, ik.j)) *
               (3.0 * at_i * at_j * at_k + 1.0) / std::pow(product, 3) * damping;
    }
  // Each triple was met at three corners in two orders.
  return total / 6.0 * kElectronvolt;
}

}    // namespace mlip_dd::test
