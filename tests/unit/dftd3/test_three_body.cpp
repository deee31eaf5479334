// If these fail, DFT-D3 with the three-body term has wrong energies or forces, or ones that change
// with the number of ranks.
#include <algorithm>
#include <cmath>
#include <random>

#include "catch.h"
#include "dftd3/d3_cases.h"
#include "pair/native_run.h"
#include "potentials/pair/vector4.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kRoundOff = 1e-12;       // float64 sums of some ten thousand terms, relative
constexpr double kFormulaError = 1e-8;    // of fourth-order differences with steps of 1e-3 A

ModelSpec with_three_body(ModelSpec model, nlohmann::json more = nlohmann::json::object())
{
  model.parameters["three_body"] = true;
  model.parameters.update(more);
  return model;
}

double three_body_energy(const ModelSpec &model, const PeriodicSystem &system,
                         const NativeRun &run = {})
{
  return run_native(with_three_body(model), system, system, run).energy -
         run_native(model, system, system, run).energy;
}

}    // namespace

TEST_CASE("cube roots are good to rounding over all powers of ten")
{
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> power(-60.0, 60.0);
  double worst = 0.0;
  for (int k = 0; k < 10000; ++k) {
    Packed4 out{};
    Double4 x{};
    for (int lane = 0; lane < 4; ++lane) x[lane] = std::pow(10.0, power(random));
    store4(out, inverse_cube_root4(x));
    for (int lane = 0; lane < 4; ++lane)
      worst = std::max(worst, std::abs(out.values[lane] * std::cbrt(x[lane]) - 1.0));
  }
  CHECK(worst < 1e-15);
  CHECK(worst > 0.0);
}

TEST_CASE("the three-body energy is the published formula")
{
  for (const char *damping : {"bj", "zero"}) {
    const ModelSpec model = organic(damping, 0.0);
    const PeriodicSystem system = organic_system(5);
    const double expected = plain_three_body(model, system, 5.0);
    INFO(damping);
    CHECK(std::abs(expected) > 1e-3);
    // Of the energy with the pairs' is taken that of the pairs: rounding of the larger one counts.
    CHECK(std::abs(three_body_energy(model, system) - expected) <
          kRoundOff * std::abs(plain_energy(model, system)));
  }
  // A cell of one atom: all triples are of its images.
  PeriodicSystem one;
  one.cell = tilted_cell(2.6, 2.4, 2.5, 0.4);
  one.positions = {0.1, 0.2, 0.3};
  one.types = {0};
  const ModelSpec model = organic("bj", 0.0);
  const double expected = plain_three_body(model, one, 5.0);
  CHECK(std::abs(expected) > 1e-4);
  CHECK(three_body_energy(model, one) == Approx(expected).epsilon(1e-10));
}

TEST_CASE("an equilateral triangle repels and a line attracts")
{
  PeriodicSystem three;
  three.cell = orthogonal_cell(40, 40, 40);
  three.cell.periodic = {false, false, false};
  three.types = {0, 0, 0};
  three.positions = {10, 10, 10, 14, 10, 10, 12, 10 + 2 * std::sqrt(3.0), 10};
  const ModelSpec model = organic("bj", 0.0, 9.0);
  CHECK(three_body_energy(model, three) > 1e-7);
  three.positions = {10, 10, 10, 14, 10, 10, 18, 10, 10};
  CHECK(three_body_energy(model, three) < -1e-8);
}

TEST_CASE("s9 scales the three-body term, and its cutoff is one of all three sides")
{
  const PeriodicSystem system = organic_system(5);
  const ModelSpec model = organic("bj", 0.0);
  const double pairs = run_native(model, system, system).energy;
  const auto term = [&](const nlohmann::json &more) {
    return run_native(with_three_body(model, more), system, system).energy - pairs;
  };
  CHECK(term({{"s9", 0.5}}) == Approx(0.5 * term(nlohmann::json::object())).epsilon(1e-9));
  for (const double cutoff : {3.5, 6.0}) {
    INFO("cutoff " << cutoff);
    CHECK(term({{"three_body_cutoff", cutoff}}) ==
          Approx(plain_three_body(model, system, cutoff)).epsilon(1e-9));
  }
}

TEST_CASE("DFT-D3 with triples is the same on 1 to 8 ranks with ghosts no further than the cutoff")
{
  Cell cluster = orthogonal_cell(11, 11, 11);
  cluster.periodic = {false, false, false};
  for (const double width : {0.0, 1.0}) {
    INFO("switch " << width);
    check_decompositions(with_three_body(organic("bj", width)),
                         {{40, tilted_cell(9, 8, 10, 0.3)},
                          {5, orthogonal_cell(2.9, 3.1, 4.0)},
                          {1, tilted_cell(2.6, 2.4, 2.5, 0.4)},
                          {25, cluster}},
                         1.1, {2, 3, 8}, kRoundOff);
  }
}

TEST_CASE("forces and virial with triples are the energy's derivatives")
{
  for (const double width : {0.0, 2.0}) {
    INFO("switch " << width);
    PeriodicSystem cluster = organic_system(8);
    cluster.cell.periodic = {false, false, false};
    check_derivatives(with_three_body(organic("bj", width, 30.0)), cluster, kFormulaError);
  }
  // Where pairs cross the cutoff only a switch makes the energy one that can be differentiated.
  check_derivatives(with_three_body(organic("zero", 2.0)), organic_system(7), kFormulaError);
}

TEST_CASE("with a switch on no three-body energy jumps at a cutoff")
{
  const auto at = [](double r, double switch_width) {
    PeriodicSystem three;
    three.cell = orthogonal_cell(40, 40, 40);
    three.types = {0, 0, 0};
    three.positions = {5, 5, 5, 5 + r, 5, 5, 7, 6.5, 5};
    return three_body_energy(organic("bj", switch_width, 6.0), three);
  };
  constexpr double kJustInside = 6.0 - 1e-4, kJustOutside = 6.0 + 1e-4;
  CHECK(std::abs(at(kJustInside, 0.0) - at(kJustOutside, 0.0)) > 1e-6);
  CHECK(std::abs(at(kJustInside, 2.0) - at(kJustOutside, 2.0)) < 1e-12);
  CHECK(std::abs(at(4.5, 2.0)) > 1e-6);
}
