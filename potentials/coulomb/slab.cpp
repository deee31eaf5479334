#include "potentials/coulomb/slab.h"

#include "base/constants.h"

namespace mlip_dd {

namespace {

double height_of(const Lattice &lattice, int axis, const OwnedCharges &atoms, std::size_t i)
{
  const auto a = static_cast<std::size_t>(axis);
  return lattice.heights[a] * atoms.fractional[3 * i + a];
}

}    // namespace

SlabMoments slab_moments(const Lattice &lattice, int axis, const OwnedCharges &atoms)
{
  SlabMoments moments;
  for (std::size_t i = 0; i < atoms.charges.size(); ++i) {
    const double z = height_of(lattice, axis, atoms, i);
    moments.charge += atoms.charges[i];
    moments.first += atoms.charges[i] * z;
    moments.second += atoms.charges[i] * z * z;
  }
  return moments;
}

// E = (2 pi / V) (M^2 - Q M2 - Q^2 L^2 / 12), M and M2 the moments, L the lattice's height. Under a
// strain it changes by E (2 n n^T - 1), n the axis's normal.
void add_slab_correction(const Lattice &lattice, int axis, const SlabMoments &moments,
                         const OwnedCharges &atoms, double constant, const CoulombSums &sums)
{
  const auto a = static_cast<std::size_t>(axis);
  const double height = lattice.heights[a];
  Vector3 normal{};
  for (std::size_t b = 0; b < 3; ++b) normal[b] = lattice.reciprocal[a][b] * height / (2.0 * kPi);
  const double factor = 4.0 * kPi * constant / lattice.volume;
  const auto [charge, first, second] = moments;
  const double offset = 0.5 * second + charge * height * height / 12.0;
  for (std::size_t i = 0; i < atoms.charges.size(); ++i) {
    const double z = height_of(lattice, axis, atoms, i);
    const double potential = factor * (z * first - 0.5 * charge * z * z - offset);
    const double force = -factor * atoms.charges[i] * (first - charge * z);
    sums.potential[i] += potential;
    const double energy = 0.5 * atoms.charges[i] * potential;
    for (std::size_t b = 0; b < 3; ++b) {
      sums.forces[3 * i + b] += force * normal[b];
      for (std::size_t c = 0; c < 3; ++c) {
        const double value = energy * ((b == c) - 2.0 * normal[b] * normal[c]);
        (*sums.virial)[3 * b + c] += value;
        if (!sums.node_virial.empty()) sums.node_virial[9 * i + 3 * b + c] += value;
      }
    }
  }
}

}    // namespace mlip_dd
