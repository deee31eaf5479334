#include "potentials/dftd3/d3_model.h"

#include <cmath>
#include <string>

#include "base/constants.h"
#include "base/error.h"

namespace mlip_dd {

namespace {

constexpr double kThreeBodyRadii = 4.0 / 3.0;    // of Grimme et al. (2010), eq. 14

void set_damping(D3Pair &pair, const D3BeckeJohnson &damping, double c8_over_c6, double)
{
  const double radius = damping.a1 * std::sqrt(c8_over_c6) + damping.a2 * kBohr;
  pair.s6 = damping.s6;
  pair.s8_ratio = damping.s8 * c8_over_c6;
  pair.damping6 = std::pow(radius, 6);
  pair.damping8 = std::pow(radius, 8);
}

void set_damping(D3Pair &pair, const D3Zero &damping, double c8_over_c6, double cutoff_radius)
{
  pair.s6 = damping.s6;
  pair.s8_ratio = damping.s8 * c8_over_c6;
  pair.damping6 = std::pow(damping.sr6 * cutoff_radius, 2);
  pair.damping8 = std::pow(damping.sr8 * cutoff_radius, 2);
}

}    // namespace

D3Model make_d3_model(const D3Parameters &parameters, const D3Reference &reference)
{
  const std::size_t n = reference.size();
  const double c6_unit = kHartree * std::pow(kBohr, 6);
  D3Model model;
  model.n_types = static_cast<int>(n);
  model.zero_damping = std::holds_alternative<D3Zero>(parameters.damping);
  model.cutoff = parameters.cutoff;
  model.cn_cutoff = parameters.cn_cutoff;
  model.switch_width = parameters.switch_width;
  model.cn_switch_width = parameters.cn_switch_width;
  model.three_body_scale = parameters.s9 / std::sqrt(kHartree);
  model.three_body_cutoff = parameters.three_body_cutoff;
  model.three_body_switch_width = parameters.three_body_switch_width;
  model.references = reference.coordination;
  for (const auto &references : model.references)
    if (references.size() > kMostReferences)
      throw Error({"an element has more references than this program handles",
                   std::to_string(references.size()), "the reference values of DFT-D3",
                   "At most " + std::to_string(kMostReferences) + " are read at once"});
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      D3Pair pair;
      pair.counting_radius = kBohr * (reference.covalent_radius[a] + reference.covalent_radius[b]);
      const double c8_over_c6 = 3.0 * reference.r4r2[a] * reference.r4r2[b] * kBohr * kBohr;
      const double cutoff_radius = kBohr * reference.cutoff_radius[a * n + b];
      pair.three_body_radius2 = std::pow(kThreeBodyRadii * cutoff_radius, 2);
      std::visit(
          [&](const auto &damping) { set_damping(pair, damping, c8_over_c6, cutoff_radius); },
          parameters.damping);
      pair.c6.assign(kMostReferences * kMostReferences, 0.0);
      const std::size_t columns = model.references[b].size();
      for (std::size_t p = 0; p < model.references[a].size(); ++p)
        for (std::size_t q = 0; q < columns; ++q)
          pair.c6[kMostReferences * p + q] = c6_unit * reference.c6[a * n + b][columns * p + q];
      model.pairs.push_back(std::move(pair));
    }
  return model;
}

}    // namespace mlip_dd
