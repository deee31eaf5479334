#include "potentials/dftd3/d3_gpu.h"

namespace mlip_dd {

D3OnGpu::D3OnGpu(int gpu, const D3Model &model)
    : rows_(gpu),
      ranges_(model),
      zero_damping_(model.zero_damping),
      triples_{{}, model.three_body_scale, model.three_body_cutoff, model.three_body_switch_width},
      pairs_(gpu),
      c6_(gpu),
      references_(gpu),
      weights_(gpu),
      energy_slopes_(gpu)
{
  std::vector<D3PairNumbers> pairs;
  std::vector<double> c6;
  for (const D3Pair &pair : model.pairs) {
    pairs.push_back(pair);
    c6.insert(c6.end(), pair.c6.begin(), pair.c6.end());
  }
  std::vector<std::int32_t> references;
  for (const auto &of_type : model.references)
    references.push_back(static_cast<std::int32_t>(of_type.size()));
  pairs_.upload(pairs);
  c6_.upload(c6);
  references_.upload(references);
}

D3View D3OnGpu::view() const
{
  return {rows_.view(),
          ranges_,
          zero_damping_,
          pairs_.as<D3PairNumbers>(),
          c6_.as<double>(),
          references_.as<std::int32_t>(),
          weights_.as<D3Weights>(),
          energy_slopes_.as<double>()};
}

const std::vector<LaneSums> &D3OnGpu::count_neighbours()
{
  return rows_.sum([&](LaneSums *sums) { launch_d3(D3CountLanes{view()}, sums); });
}

const std::vector<LaneSums> &D3OnGpu::dispersion(const std::vector<D3Weights> &weights)
{
  weights_.upload(weights);
  return rows_.sum([&](LaneSums *sums) { launch_d3(D3DispersionLanes{view()}, sums); });
}

const std::vector<LaneSums> &D3OnGpu::three_body()
{
  triples_.view = view();
  return rows_.sum([&](LaneSums *sums) { launch_d3(triples_, sums); });
}

const std::vector<LaneSums> &D3OnGpu::coordination_forces(const std::vector<double> &energy_slopes)
{
  energy_slopes_.upload(energy_slopes);
  return rows_.sum([&](LaneSums *sums) { launch_d3(D3CoordinationLanes{view()}, sums); });
}

}    // namespace mlip_dd
