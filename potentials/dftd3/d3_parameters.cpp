#include "potentials/dftd3/d3_parameters.h"

#include <algorithm>
#include <array>

#include "base/constants.h"
#include "base/error.h"
#include "base/quote.h"
#include "potentials/pair/parameters.h"

namespace mlip_dd {

namespace {

constexpr std::array<std::string_view, 16> kKeys{"functional",
                                                 "damping",
                                                 "s6",
                                                 "s8",
                                                 "a1",
                                                 "a2",
                                                 "sr6",
                                                 "sr8",
                                                 "cn_cutoff",
                                                 "switch_width",
                                                 "cn_switch_width",
                                                 "reference",
                                                 "three_body",
                                                 "s9",
                                                 "three_body_cutoff",
                                                 "three_body_switch_width"};
constexpr std::array<std::string_view, 2> kDampings{"bj", "zero"};
constexpr std::array<std::string_view, 1> kUnits{"metal"};
// Grimme's program counts neighbours within 40 Bohr.
constexpr double kLongestCnCutoff = 40.0 * kBohr;
// s-dftd3's for triples, whose number grows with the sixth power of it.
constexpr double kLongestThreeBodyCutoff = 40.0 * kBohr;

// Refuses numbers that the damping does not have, and all of them beside a functional.
void refuse_others(const JsonPlace &place, std::initializer_list<std::string_view> keys,
                   const std::string &cause)
{
  for (const std::string_view key : keys)
    if (const auto found = place.find(key)) found->refuse(cause, "Remove " + in_quotes(key));
}

double number(const JsonPlace &place, std::string_view key, std::optional<double> otherwise)
{
  const auto found = place.find(key);
  if (!found && otherwise) return *otherwise;
  return (found ? *found : place.at(key)).finite_number(in_quotes(key));
}

template <class Values>
Values by_name(const JsonPlace &place, const std::string &name, const Values *found,
               const std::vector<std::string_view> &known)
{
  if (!found) place.refuse_word("The functional " + in_quotes(name) + " with this damping", known);
  return *found;
}

D3BeckeJohnson read_bj(ParameterTree &tree, const std::string &functional)
{
  const JsonPlace place = tree.place();
  refuse_others(place, {"sr6", "sr8"}, "This number belongs to zero damping");
  if (!functional.empty())
    return by_name(place.at("functional"), functional, find_d3_bj(functional), d3_bj_functionals());
  return {tree.not_negative("s6", "\"s6\"", 1.0), number(place, "s8", std::nullopt),
          number(place, "a1", std::nullopt), number(place, "a2", std::nullopt)};
}

D3Zero read_zero(ParameterTree &tree, const std::string &functional)
{
  const JsonPlace place = tree.place();
  refuse_others(place, {"a1", "a2"}, "This number belongs to Becke-Johnson damping");
  if (!functional.empty())
    return by_name(place.at("functional"), functional, find_d3_zero(functional),
                   d3_zero_functionals());
  return {tree.not_negative("s6", "\"s6\"", 1.0), number(place, "s8", std::nullopt),
          tree.positive("sr6", "\"sr6\"", std::nullopt), tree.positive("sr8", "\"sr8\"", 1.0)};
}

std::string read_functional(const JsonPlace &place)
{
  const auto found = place.find("functional");
  if (!found) return {};
  refuse_others(place, {"s6", "s8", "a1", "a2", "sr6", "sr8"},
                "The functional has a number for this already");
  return found->non_empty_text("The functional");
}

// The term has no parameter of the functional: s9 is 1 for all.
void read_three_body(ParameterTree &tree, D3Parameters &parameters)
{
  const JsonPlace place = tree.place();
  const auto asked = place.find("three_body");
  if (!asked || !asked->truth("\"three_body\"")) {
    refuse_others(place, {"s9", "three_body_cutoff", "three_body_switch_width"},
                  "This number belongs to the three-body term, which is not asked for");
    return;
  }
  parameters.s9 = tree.positive("s9", "\"s9\"", 1.0);
  parameters.three_body_cutoff =
      tree.positive("three_body_cutoff", "\"three_body_cutoff\"",
                    std::min(parameters.cutoff, kLongestThreeBodyCutoff));
  parameters.three_body_switch_width = tree.not_negative(
      "three_body_switch_width", "\"three_body_switch_width\"", parameters.switch_width);
  require_switch_fits(tree, "three_body_switch_width", parameters.three_body_switch_width,
                      parameters.three_body_cutoff);
}

}    // namespace

D3Parameters read_d3_parameters(const ModelSpec &model)
{
  require_units(model, kUnits);
  ParameterTree tree(model, kKeys);
  const JsonPlace place = tree.place();
  if (!model.cutoff)
    throw Error({"the model has no cutoff", "", "/model", "Add \"cutoff\" in Angstrom"});
  D3Parameters parameters;
  parameters.functional = read_functional(place);
  if (!place.has("damping"))
    place.refuse("DFT-D3 needs a damping", "Add \"damping\": \"bj\" or \"zero\"");
  const std::string damping = place.at("damping").text("The damping");
  if (damping == "bj")
    parameters.damping = read_bj(tree, parameters.functional);
  else if (damping == "zero")
    parameters.damping = read_zero(tree, parameters.functional);
  else
    place.at("damping").refuse_word("The damping", kDampings);

  parameters.cutoff = *model.cutoff;
  parameters.cn_cutoff =
      tree.positive("cn_cutoff", "\"cn_cutoff\"", std::min(parameters.cutoff, kLongestCnCutoff));
  parameters.switch_width = tree.not_negative("switch_width", "\"switch_width\"", 0.0);
  require_switch_fits(tree, "switch_width", parameters.switch_width, parameters.cutoff);
  parameters.cn_switch_width =
      tree.not_negative("cn_switch_width", "\"cn_switch_width\"", parameters.switch_width);
  require_switch_fits(tree, "cn_switch_width", parameters.cn_switch_width, parameters.cn_cutoff);
  read_three_body(tree, parameters);
  if (const auto reference = place.find("reference"))
    parameters.reference = reference->non_empty_text("\"reference\"");
  return parameters;
}

}    // namespace mlip_dd
