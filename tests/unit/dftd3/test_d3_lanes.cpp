// If these fail, DFT-D3 on a GPU computes something else than on the CPU: these are the sums of its
// lanes, run without one.
#include "catch.h"
#include "dftd3/d3_cases.h"
#include "pair/lane_run.h"
#include "potentials/dftd3/d3_model.h"
#include "potentials/dftd3/d3_triple_lanes.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

constexpr double kRoundOff = 1e-12;    // float64 sums of some thousand terms, relative

}    // namespace

TEST_CASE("lanes give the dispersion energies and forces of the CPU's kernels")
{
  const PeriodicSystem system = organic_system(run_seed());
  const std::string damping = GENERATE("bj", "zero");
  const double switch_width = GENERATE(0.0, 0.8);
  const bool triples = GENERATE(false, true);
  CAPTURE(damping, switch_width, triples);
  // More neighbours than lanes.
  ModelSpec spec = organic(damping, switch_width, 6.0);
  const NativeResult pairs_alone = run_native(spec, system, system);
  if (triples) spec.parameters["three_body"] = true;
  const D3Parameters parameters = read_d3_parameters(spec);
  const D3Model model =
      make_d3_model(parameters, read_d3_reference(parameters.reference, spec.elements));
  const PairRows rows = rows_of(system, model.cutoff, model.n_types);

  std::vector<D3PairNumbers> pairs(model.pairs.begin(), model.pairs.end());
  std::vector<double> c6;
  for (const D3Pair &pair : model.pairs) c6.insert(c6.end(), pair.c6.begin(), pair.c6.end());
  std::vector<std::int32_t> references;
  for (const auto &of_type : model.references)
    references.push_back(static_cast<std::int32_t>(of_type.size()));
  D3View view{rows.view(), model,  model.zero_damping, pairs.data(), c6.data(), references.data(),
              nullptr,     nullptr};

  LaneResult lanes(rows);
  std::vector<D3Weights> weights;
  for (const LaneSums &count : lanes.add(D3CountLanes{view}, /*results=*/false))
    weights.push_back(d3_weights(model, rows.types[weights.size()], count.extra));
  view.weights = weights.data();
  std::vector<double> slopes;
  for (const LaneSums &sums : lanes.add(D3DispersionLanes{view})) slopes.push_back(sums.extra);
  if (triples) {
    const D3TripleLanes work{view, model.three_body_scale, model.three_body_cutoff,
                             model.three_body_switch_width};
    std::size_t row = 0;
    for (const LaneSums &sums : lanes.add(work)) slopes[row++] += sums.extra;
  }
  view.energy_slopes = slopes.data();
  lanes.add(D3CoordinationLanes{view});
  const NativeResult expected = run_native(spec, system, system);
  check_same(lanes.result(), expected, kRoundOff);
  if (triples) CHECK(std::abs(expected.energy - pairs_alone.energy) > 1e-3);
}
