#include "potentials/coulomb/parameters.h"

#include <string>

#include "base/constants.h"
#include "potentials/coulomb/accuracy.h"

namespace mlip_dd {

namespace {

constexpr std::string_view kShared[] = {"accuracy", "alpha", "charges", "coulomb_constant", "slab"};
constexpr double kSmallestAccuracy = 1e-13;    // float64 sums are not better than this
constexpr double kLargestAccuracy = 0.1;

double read_accuracy(const JsonPlace &place)
{
  const double accuracy = place.finite_number("The accuracy");
  if (accuracy < kSmallestAccuracy || accuracy > kLargestAccuracy)
    place.refuse("The accuracy must be between 1e-13 and 0.1",
                 "Give the RMS error of a force over the force between two unit charges 1 Angstrom "
                 "apart, for example 1e-5");
  return accuracy;
}

std::vector<double> read_charges(const JsonPlace &place, const std::vector<std::string> &elements)
{
  place.expect_array("\"charges\"");
  std::vector<double> charges;
  for (const JsonPlace &item : place.elements()) charges.push_back(item.finite_number("A charge"));
  if (charges.size() != elements.size())
    place.refuse(
        "There must be one charge for each of the " + std::to_string(elements.size()) + " elements",
        "List them in the order of \"elements\", or remove the key to take the atoms' own "
        "charges");
  return charges;
}

}    // namespace

double positive_number(const JsonPlace &place, const std::string &what)
{
  const double value = place.finite_number(what);
  if (!(value > 0.0)) place.refuse(what + " must be above zero", "Give a positive number");
  return value;
}

std::array<int, 3> three_whole_numbers(const JsonPlace &place, const std::string &what,
                                       int smallest)
{
  place.expect_array("\"" + what + "\"");
  const auto items = place.elements();
  if (items.size() != 3)
    place.refuse(what + " must have three entries, one per box vector", "Give three whole numbers");
  std::array<int, 3> values{};
  for (std::size_t a = 0; a < 3; ++a) values[a] = items[a].whole_number(what, smallest);
  return values;
}

CoulombParameters read_coulomb_parameters(const ModelSpec &model,
                                          std::span<const std::string_view> own,
                                          const std::function<void(const JsonPlace &)> &read)
{
  const nlohmann::ordered_json values(model.parameters);
  const ReadContext context{"the spec", {}, Reading::Strict, nullptr, {}};
  const JsonPlace place(values, "/model/parameters", context);
  place.expect_object("\"parameters\"");
  std::vector<std::string_view> keys(std::begin(kShared), std::end(kShared));
  keys.insert(keys.end(), own.begin(), own.end());
  place.expect_keys(keys);

  CoulombParameters parameters;
  parameters.coulomb_constant = kCoulombMetal;
  if (const auto item = place.find("accuracy")) parameters.accuracy = read_accuracy(*item);
  if (const auto item = place.find("alpha")) {
    parameters.alpha = positive_number(*item, "alpha");
    if (!model.cutoff)
      item->refuse("alpha needs a cutoff that goes with it",
                   "Add \"cutoff\" beside \"parameters\"");
  }
  if (const auto item = place.find("charges"))
    parameters.charges = read_charges(*item, model.elements);
  if (const auto item = place.find("coulomb_constant"))
    parameters.coulomb_constant = positive_number(*item, "The Coulomb constant");
  if (const auto item = place.find("slab")) {
    parameters.slab = item->finite_number("slab");
    if (*parameters.slab < 1.0)
      item->refuse("The slab factor must be at least 1",
                   "Give the length of the cell along the open axis over that of the box; 3 is "
                   "usual");
  }
  parameters.cutoff = model.cutoff.value_or(default_cutoff(parameters.accuracy));
  read(place);
  return parameters;
}

}    // namespace mlip_dd
