#include "units.h"

#include <array>
#include <string_view>

#include "base/constants.h"
#include "base/error.h"

namespace mlip_dd {

namespace {

constexpr double kJoule = 1.0 / kElementaryCharge;      // eV
constexpr double kCoulomb = 1.0 / kElementaryCharge;    // e
constexpr double kMetre = 1e10;                         // Angstrom
constexpr double kGram = 1e-3;                          // kg

struct NamedUnits {
  std::string_view name;
  HostUnits units;
};

// The units of each style stand in LAMMPS's manual, command `units`. An energy that it gives as
// mass x length^2 / time^2 is worked out from these.
constexpr std::array<NamedUnits, 7> kStyles{{
    {"metal", {}},
    {"real", {1.0, kThermochemicalKilocalorie / kAvogadro *kJoule, 1.0}},
    {"si", {kMetre, kJoule, kCoulomb}},
    {"cgs", {1e-2 * kMetre, 1e-7 * kJoule, kStatcoulomb *kCoulomb}},
    {"electron", {kBohr, kHartree, 1.0}},
    {"micro", {1e-6 * kMetre, 1e-12 * kGram *kJoule, 1e-12 * kCoulomb}},    // pg um^2/us^2, pC
    {"nano", {1e-9 * kMetre, 1e-18 * kGram *kJoule, 1.0}},                  // ag nm^2/ns^2, e
}};

}    // namespace

HostUnits host_units(const std::string &style, bool dimensionless)
{
  if (dimensionless) {
    if (style == "lj") return {};
    throw Error({"the model is dimensionless", style, "units " + style, "Use `units lj`"});
  }
  std::string known;
  for (const NamedUnits &named : kStyles) {
    if (named.name == style) return named.units;
    known += (known.empty() ? "" : ", ") + std::string(named.name);
  }
  throw Error({"the model works in eV and Angstrom, to which these units are not related", style,
               "units " + style, "Use `units metal`, or another of: " + known});
}

}    // namespace mlip_dd
