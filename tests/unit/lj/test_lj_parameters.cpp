// If these fail, a spec file with a slip in it runs with other numbers than its author meant.
#include <cmath>

#include "base/error.h"
#include "catch.h"
#include "potentials/lj/lj_parameters.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

ModelSpec model_with(const nlohmann::json &parameters,
                     std::vector<std::string> elements = {"Ar", "Ne"})
{
  ModelSpec model;
  model.potential = "lj";
  model.cutoff = 8.0;
  model.elements = std::move(elements);
  model.parameters = parameters;
  return model;
}

std::string refusal(const ModelSpec &model)
{
  try {
    read_lj_parameters(model);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

}    // namespace

TEST_CASE("values per element are mixed by the rule that the file names")
{
  struct Rule {
    const char *name;
    double epsilon, sigma;
  };
  const double e1 = 0.01, e2 = 0.03, s1 = 3.4, s2 = 2.8;
  const double s1_3 = s1 * s1 * s1, s2_3 = s2 * s2 * s2, sum6 = s1_3 * s1_3 + s2_3 * s2_3;
  for (const Rule &rule : {Rule{"geometric", std::sqrt(e1 * e2), std::sqrt(s1 * s2)},
                           Rule{"arithmetic", std::sqrt(e1 * e2), 0.5 * (s1 + s2)},
                           Rule{"sixthpower", 2.0 * std::sqrt(e1 * e2) * s1_3 * s2_3 / sum6,
                                std::pow(0.5 * sum6, 1.0 / 6.0)}}) {
    const LjParameters parameters = read_lj_parameters(
        model_with({{"epsilon", {e1, e2}}, {"sigma", {s1, s2}}, {"mixing", rule.name}}));
    const auto attraction = [](double e, double s) { return 4.0 * e * std::pow(s, 6); };
    INFO(rule.name);
    CHECK(parameters.pair(0, 0).attraction == Approx(attraction(e1, s1)).epsilon(1e-14));
    CHECK(parameters.pair(1, 1).attraction == Approx(attraction(e2, s2)).epsilon(1e-14));
    for (const auto &[a, b] : {std::pair(0, 1), std::pair(1, 0)}) {
      CHECK(parameters.pair(a, b).attraction ==
            Approx(attraction(rule.epsilon, rule.sigma)).epsilon(1e-13));
      CHECK(parameters.pair(a, b).repulsion ==
            Approx(attraction(rule.epsilon, rule.sigma) * std::pow(rule.sigma, 6)).epsilon(1e-13));
    }
  }
}

TEST_CASE("parameters that do not fit are refused with key, value and cure")
{
  const nlohmann::json good{{"epsilon", 0.01}, {"sigma", 3.4}};
  const auto with = [&](nlohmann::json more) {
    nlohmann::json parameters = good;
    parameters.update(more);
    return refusal(model_with(parameters));
  };
  CHECK(refusal(model_with(good)).empty());
  CHECK_THAT(with({{"epsilom", 1.0}}), contains("epsilom") && contains("Did you mean \"epsilon\""));
  CHECK_THAT(refusal(model_with({{"epsilon", 0.01}})), contains("\"sigma\""));
  CHECK_THAT(with({{"sigma", -1.0}}), contains("/model/parameters/sigma") && contains("-1"));
  CHECK_THAT(with({{"sigma", "3.4"}}), contains("one number for each of the 2 elements"));
  CHECK_THAT(with({{"epsilon", {0.01, 0.02, 0.03}}}), contains("2 elements"));
  CHECK_THAT(with({{"epsilon", {0.01, 0.02}}}), contains("mixing"));
  CHECK_THAT(with({{"epsilon", {0.01, 0.02}}, {"mixing", "geometrical"}}),
             contains("Did you mean \"geometric\""));
  CHECK_THAT(with({{"epsilon", {0.01, 0.02}}, {"mixing", "sixthpower"}}), contains("together"));
  CHECK_THAT(with({{"sigma", {{1.0, 2.0}, {2.5, 3.0}}}}), contains("Ne-Ar"));
  CHECK_THAT(with({{"sigma", {{1.0, 2.0}}}}), contains("one row"));
  CHECK_THAT(with({{"cutoffs", {{8.0, 9.0}, {9.0, 8.0}}}}), contains("exceeds the model's"));
  CHECK_THAT(with({{"cutoffs", {8.0, 8.0}}}), contains("matrix"));
  CHECK_THAT(with({{"cutoffs", 0.0}}), contains("above zero"));
  CHECK_THAT(with({{"switch_width", 9.0}}), contains("wider than the cutoff"));
  CHECK_THAT(with({{"switch_width", 1.0}, {"shift", true}}), contains("shift"));
  CHECK_THAT(with({{"shift", 1}}), contains("true or false"));
  ModelSpec model = model_with(good);
  model.units = "real";
  CHECK_THAT(refusal(model), contains("real") && contains("metal"));
  model.units = "lj";
  CHECK(refusal(model).empty());
}
