#include "committee.h"

#include <cmath>

namespace mlip_dd {

AtomField force_deviation(const Pipeline &pipeline)
{
  const auto n = static_cast<std::size_t>(pipeline.runner(0).graph().n_owned);
  const auto members = static_cast<double>(pipeline.size());
  AtomField deviation{1, std::vector<double>(n, 0.0)};
  for (std::size_t row = 0; row < n; ++row)
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t k = 3 * row + a;
      double mean = 0.0;
      for (std::size_t m = 0; m < pipeline.size(); ++m)
        mean += pipeline.runner(m).output().forces[k] / members;
      for (std::size_t m = 0; m < pipeline.size(); ++m) {
        const double off = pipeline.runner(m).output().forces[k] - mean;
        deviation.values[row] += off * off / members;
      }
    }
  for (double &value : deviation.values) value = std::sqrt(value);
  return deviation;
}

}    // namespace mlip_dd
