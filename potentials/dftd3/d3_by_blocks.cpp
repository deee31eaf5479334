#include <ATen/ops/empty.h>

#include "potentials/dftd3/d3_kernel.h"
#include "potentials/dftd3/d3_stages.h"
#include "potentials/dftd3/d3_three_body.h"
#include "potentials/pair/row_blocks.h"

namespace mlip_dd {

namespace {

class D3ByBlocks final : public D3Stages {
 public:
  D3ByBlocks(const D3Model &model, int threads) : model_(model), threads_(threads) {}

  at::Tensor count_neighbours(const PairView &rows) override
  {
    const at::Tensor coordination = at::empty({rows.n_owned}, at::kDouble);
    double *counts = coordination.mutable_data_ptr<double>();
    for_each_block(rows.n_owned, threads_, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
      mlip_dd::count_neighbours(rows, model_, begin, end, counts);
    });
    return coordination;
  }

  at::Tensor add_dispersion(const PairView &rows, const at::Tensor &coordination,
                            PotentialOutput &output) override
  {
    set_weights(rows, coordination);
    const at::Tensor energy_slopes = at::empty({rows.n_owned}, at::kDouble);
    double *slopes = energy_slopes.mutable_data_ptr<double>();
    const RowResults results = row_results(output);
    add_blocks(
        rows.n_owned, threads_,
        [&](std::int64_t begin, std::int64_t end) {
          return mlip_dd::add_dispersion(rows, model_, weights_.data(), begin, end, slopes,
                                         results);
        },
        output);
    if (model_.three_body_scale > 0.0)
      add_blocks(
          rows.n_owned, threads_,
          [&](std::int64_t begin, std::int64_t end) {
            return add_three_body(rows, model_, weights_.data(), begin, end, slopes, results);
          },
          output);
    return energy_slopes;
  }

  void add_coordination_forces(const PairView &rows, const at::Tensor &energy_slopes,
                               PotentialOutput &output) override
  {
    const double *slopes = energy_slopes.const_data_ptr<double>();
    const RowResults results = row_results(output);
    add_blocks(
        rows.n_owned, threads_,
        [&](std::int64_t begin, std::int64_t end) {
          return mlip_dd::add_coordination_forces(rows, model_, slopes, begin, end, results);
        },
        output);
  }

 private:
  void set_weights(const PairView &rows, const at::Tensor &coordination)
  {
    const double *counts = coordination.const_data_ptr<double>();
    weights_.resize(static_cast<std::size_t>(coordination.numel()));
    for_each_block(
        coordination.numel(), threads_, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
          for (std::int64_t row = begin; row < end; ++row) {
            const std::vector<double> &references =
                model_.references[static_cast<std::size_t>(rows.types[row])];
            weights_[static_cast<std::size_t>(row)] =
                d3_weights(references.data(), static_cast<int>(references.size()), counts[row]);
          }
        });
  }

  const D3Model &model_;
  int threads_;
  std::vector<D3Weights> weights_;    // of all rows
};

}    // namespace

std::unique_ptr<D3Stages> make_d3_blocks(const D3Model &model, int threads)
{
  return std::make_unique<D3ByBlocks>(model, threads);
}

}    // namespace mlip_dd
