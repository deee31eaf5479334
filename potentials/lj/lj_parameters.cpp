#include "potentials/lj/lj_parameters.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "potentials/pair/parameters.h"

namespace mlip_dd {

namespace {

constexpr std::array<std::string_view, 6> kKeys{"epsilon", "sigma", "mixing",
                                                "cutoffs", "shift", "switch_width"};
constexpr std::array<std::string_view, 2> kUnits{"metal", "lj"};
constexpr std::array<std::string_view, 3> kMixing{"geometric", "arithmetic", "sixthpower"};

struct Shape {
  double epsilon = 0.0, sigma = 0.0;
};

// As LAMMPS's pair_modify mix; "arithmetic" is the rule of Lorentz and Berthelot.
Shape mix(std::string_view rule, const Shape &a, const Shape &b)
{
  if (rule == "geometric") return {std::sqrt(a.epsilon * b.epsilon), std::sqrt(a.sigma * b.sigma)};
  if (rule == "arithmetic") return {std::sqrt(a.epsilon * b.epsilon), 0.5 * (a.sigma + b.sigma)};
  const double a3 = std::pow(a.sigma, 3), b3 = std::pow(b.sigma, 3);
  const double mean6 = 0.5 * (a3 * a3 + b3 * b3);
  if (mean6 == 0.0) return {};
  return {std::sqrt(a.epsilon * b.epsilon) * a3 * b3 / mean6, std::pow(mean6, 1.0 / 6.0)};
}

std::string read_mixing(const ParameterTree &tree, bool needed)
{
  const auto place = tree.place().find("mixing");
  if (!place) {
    if (needed)
      tree.place().refuse("Values per element need a rule for unlike pairs",
                          "Add \"mixing\": geometric, arithmetic or sixthpower, or give matrices");
    return {};
  }
  const std::string rule = place->text("The mixing rule");
  if (std::find(kMixing.begin(), kMixing.end(), rule) == kMixing.end())
    place->refuse_word("The mixing rule", kMixing);
  return rule;
}

// [n, n] epsilon and sigma; what is given per pair stays, what is given per element is mixed.
std::vector<Shape> read_shapes(const ParameterTree &tree, const std::vector<std::string> &elements)
{
  const std::size_t n = elements.size();
  const PairValues epsilon = read_pair_values(tree.place().at("epsilon"), elements, "\"epsilon\"");
  const PairValues sigma = read_pair_values(tree.place().at("sigma"), elements, "\"sigma\"");
  const bool mixed = !epsilon.elements.empty() || !sigma.elements.empty();
  const std::string rule = read_mixing(tree, mixed && n > 1);
  if (rule == "sixthpower" && (epsilon.elements.empty() || sigma.elements.empty()))
    tree.place().at("mixing").refuse("This rule mixes epsilon and sigma together",
                                     "Give both per element");
  const auto own = [&](std::size_t a) {
    return Shape{epsilon.elements.empty() ? 0.0 : epsilon.elements[a],
                 sigma.elements.empty() ? 0.0 : sigma.elements[a]};
  };
  std::vector<Shape> shapes;
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      Shape shape = a == b ? own(a) : mix(rule, own(a), own(b));
      if (!epsilon.pairs.empty()) shape.epsilon = epsilon.pairs[n * a + b];
      if (!sigma.pairs.empty()) shape.sigma = sigma.pairs[n * a + b];
      shapes.push_back(shape);
    }
  return shapes;
}

// [n, n]; none may exceed the model's, which decides how far atoms are looked for.
std::vector<double> read_cutoffs(const ParameterTree &tree,
                                 const std::vector<std::string> &elements, double largest)
{
  const std::size_t n = elements.size();
  const auto place = tree.place().find("cutoffs");
  if (!place) return std::vector<double>(n * n, largest);
  const PairValues values = read_pair_values(*place, elements, "\"cutoffs\"");
  if (values.pairs.empty()) place->refuse("Cutoffs stand for pairs", "Write a matrix");
  for (const double cutoff : values.pairs)
    if (cutoff > largest)
      place->refuse("A pair's cutoff exceeds the model's", "Raise /model/cutoff");
  return values.pairs;
}

double energy(const LjPair &pair, double r)
{
  const double inverse6 = std::pow(r, -6);
  return inverse6 * (pair.repulsion * inverse6 - pair.attraction);
}

}    // namespace

LjParameters read_lj_parameters(const ModelSpec &model)
{
  require_units(model, kUnits);
  ParameterTree tree(model, kKeys);
  if (!model.cutoff) throw Error({"the model has no cutoff", "", "/model", "Add \"cutoff\""});

  LjParameters parameters;
  parameters.n_types = static_cast<int>(model.elements.size());
  parameters.switch_width = tree.not_negative("switch_width", "\"switch_width\"", 0.0);
  if (const auto shift = tree.place().find("shift")) parameters.shifted = shift->truth("\"shift\"");
  if (parameters.shifted && parameters.switch_width > 0.0)
    tree.place().at("shift").refuse("A switched potential is zero at its cutoff already",
                                    "Remove \"shift\" or \"switch_width\"");

  const std::vector<Shape> shapes = read_shapes(tree, model.elements);
  const std::vector<double> cutoffs = read_cutoffs(tree, model.elements, *model.cutoff);
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    const double sigma6 = std::pow(shapes[k].sigma, 6);
    LjPair pair;
    pair.attraction = 4.0 * shapes[k].epsilon * sigma6;
    pair.repulsion = pair.attraction * sigma6;
    pair.cutoff = cutoffs[k];
    if (parameters.shifted && pair.cutoff > 0.0) pair.shift = energy(pair, pair.cutoff);
    if (pair.cutoff > 0.0)
      require_switch_fits(tree, "switch_width", parameters.switch_width, pair.cutoff);
    parameters.cutoff = std::max(parameters.cutoff, pair.cutoff);
    parameters.pairs.push_back(pair);
  }
  if (parameters.cutoff == 0.0)
    tree.place().at("cutoffs").refuse("No pair has a cutoff above zero", "Give one");
  return parameters;
}

}    // namespace mlip_dd
