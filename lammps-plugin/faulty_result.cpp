#include "faulty_result.h"

#include <atom.h>
#include <lammps.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>

#include "base/error.h"

namespace mlip_dd {

namespace {

struct Fault {
  std::string quantity;
  double value;
  std::int64_t row;    // -1: of no single atom
};

std::optional<Fault> in_rows(const std::string &quantity, const std::vector<double> &values,
                             std::int64_t n_rows)
{
  if (n_rows == 0) return std::nullopt;
  const auto width = static_cast<std::int64_t>(values.size()) / n_rows;
  const auto bad = std::find_if(values.begin(), values.end(),
                                [](double value) { return !std::isfinite(value); });
  if (bad == values.end()) return std::nullopt;
  return Fault{quantity, *bad, (bad - values.begin()) / width};
}

// Owned rows only: forces of halo rows have been brought home.
std::optional<Fault> find_fault(const PotentialOutput &output, std::int64_t n_owned)
{
  if (const auto fault = in_rows("energy", output.node_energy, n_owned)) return fault;
  const auto n = static_cast<std::size_t>(n_owned);
  // A model on a device may have left its arrays empty.
  const std::size_t components = std::min(3 * n, output.forces.size());
  // A sum of all is finite only where each is, and quick to take.
  double sum = 0.0;
  for (std::size_t k = 0; k < components; ++k) sum += output.forces[k];
  if (!std::isfinite(sum))
    for (std::size_t k = 0; k < components; ++k)
      if (!std::isfinite(output.forces[k]))
        return Fault{"force", output.forces[k], static_cast<std::int64_t>(k / 3)};
  for (const auto *virials : {&output.node_virial, &output.centroid_virial})
    if (const auto fault = in_rows("virial", *virials, n_owned)) return fault;
  for (const auto *fields : {&output.fields, &output.gradients})
    for (const auto &[name, field] : *fields) {
      const std::size_t last =
          std::min(field.values.size(), n * static_cast<std::size_t>(field.width));
      for (std::size_t k = 0; k < last; ++k)
        if (!std::isfinite(field.values[k]))
          return Fault{"output " + name, field.values[k],
                       static_cast<std::int64_t>(k) / field.width};
    }
  for (const auto &[name, system] : output.systems)
    for (const double value : system.values)
      if (!std::isfinite(value)) return Fault{"output " + name, value, -1};
  if (!std::isfinite(output.energy)) return Fault{"energy", output.energy, -1};
  for (const double component : output.virial)
    if (!std::isfinite(component)) return Fault{"virial", component, -1};
  return std::nullopt;
}

// Among local atoms and ghosts; LAMMPS's unit of length.
double nearest_distance(const LAMMPS_NS::Atom &atom, int i)
{
  double nearest = std::numeric_limits<double>::infinity();
  for (int j = 0; j < atom.nlocal + atom.nghost; ++j) {
    if (j == i) continue;
    double squared = 0.0;
    for (int a = 0; a < 3; ++a) squared += std::pow(atom.x[j][a] - atom.x[i][a], 2);
    nearest = std::min(nearest, squared);
  }
  return std::sqrt(nearest);
}

std::string place_of(const LAMMPS_NS::Atom &atom, int i, const HostUnits &units)
{
  std::ostringstream text;
  const double *x = atom.x[i];
  text << "atom " << atom.tag[i] << " of type " << atom.type[i] << " at " << x[0] << " " << x[1]
       << " " << x[2] << ", whose nearest atom is " << nearest_distance(atom, i) * units.length
       << " A away";
  return text.str();
}

}    // namespace

void require_finite_results(const LAMMPS_NS::LAMMPS &lammps, const Pipeline &pipeline,
                            const HostGraph &host, const HostUnits &units)
{
  const LAMMPS_NS::Atom &atom = *lammps.atom;
  for (std::size_t step = 0; step < pipeline.size(); ++step) {
    const ModelRunner &runner = pipeline.runner(step);
    const auto fault = find_fault(runner.output(), runner.graph().n_owned);
    if (!fault) continue;
    std::string where = "model " + pipeline.name(step);
    if (fault->row >= 0)
      for (int i = 0; i < atom.nlocal; ++i)
        if (host.row(i) == fault->row) where = place_of(atom, i, units) + ", " + where;
    throw Error({"the model gave a result that is not a finite number",
                 fault->quantity + " " + std::to_string(fault->value), where,
                 "Look at the configuration there (atoms too close?), or use a smaller timestep"});
  }
}

}    // namespace mlip_dd
