#include "potentials/pair/parameters.h"

#include <algorithm>

#include "base/error.h"
#include "base/quote.h"
#include "spec/names.h"

namespace mlip_dd {

namespace {

double number_of(const JsonPlace &place, const std::string &what)
{
  const double value = place.finite_number(what);
  if (value < 0.0) place.refuse(what + " must not be below zero", "Write a number from 0 on");
  return value;
}

std::vector<double> numbers_of(const JsonPlace &place, std::size_t n, const std::string &what)
{
  if (!place.value().is_array() || place.value().size() != n)
    place.refuse(what + " needs one number for each of the " + std::to_string(n) + " elements",
                 "Write a number, a list in the order of \"elements\", or a matrix");
  std::vector<double> values;
  for (const JsonPlace &entry : place.elements()) values.push_back(number_of(entry, what));
  return values;
}

}    // namespace

ParameterTree::ParameterTree(const ModelSpec &model, std::span<const std::string_view> known)
    : tree_(model.parameters)
{
  context_.path = "the spec file";
  place().expect_object("\"parameters\"");
  place().expect_keys(known);
}

double ParameterTree::positive(std::string_view key, const std::string &what,
                               std::optional<double> otherwise)
{
  const auto found = place().find(key);
  if (!found && otherwise) return *otherwise;
  const JsonPlace entry = found ? *found : place().at(key);
  const double value = entry.finite_number(what);
  if (!(value > 0.0)) entry.refuse(what + " must be above zero", "Write a number above 0");
  return value;
}

double ParameterTree::not_negative(std::string_view key, const std::string &what, double otherwise)
{
  const auto found = place().find(key);
  return found ? number_of(*found, what) : otherwise;
}

PairValues read_pair_values(const JsonPlace &place, const std::vector<std::string> &elements,
                            const std::string &what)
{
  const std::size_t n = elements.size();
  PairValues values;
  if (place.value().is_number()) {
    values.pairs.assign(n * n, number_of(place, what));
    return values;
  }
  const bool matrix =
      place.value().is_array() && !place.value().empty() && place.value().front().is_array();
  if (!matrix) {
    values.elements = numbers_of(place, n, what);
    return values;
  }
  const auto rows = place.elements();
  if (rows.size() != n)
    place.refuse(what + " needs one row for each of the " + std::to_string(n) + " elements",
                 "Write rows and columns in the order of \"elements\"");
  for (const JsonPlace &row : rows) {
    const std::vector<double> numbers = numbers_of(row, n, what);
    values.pairs.insert(values.pairs.end(), numbers.begin(), numbers.end());
  }
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (values.pairs[n * a + b] != values.pairs[n * b + a])
        place.refuse(what + " must be the same for " + elements[a] + "-" + elements[b] + " and " +
                         elements[b] + "-" + elements[a],
                     "Make the matrix symmetric");
  return values;
}

void require_units(const ModelSpec &model, std::span<const std::string_view> units)
{
  if (std::find(units.begin(), units.end(), model.units) != units.end()) return;
  throw Error({"the potential " + in_quotes(model.potential) + " does not take these units",
               in_quotes(model.units), "/model/units", "Legal: " + list_names(units)});
}

void require_switch_fits(const ParameterTree &tree, std::string_view key, double width,
                         double cutoff)
{
  if (width <= cutoff) return;
  const std::string cause =
      "The switch is wider than the cutoff that it ends at, " + nlohmann::json(cutoff).dump();
  const auto given = tree.place().find(key);
  if (given) given->refuse(cause, "Make " + in_quotes(key) + " smaller");
  tree.place().refuse(cause, "Give a smaller " + in_quotes(key));
}

}    // namespace mlip_dd
