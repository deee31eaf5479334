// A small library of operators, as a model may bring one: kernels of loops, which nothing can look
// into, and others that are made of torch's operators. Float64.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

// For each edge e = (i, j): y_i += w_e x_j, y_j -= w_e x_i / 2. x, y [n, f]; w [e].
at::Tensor mutual_kernel(const at::Tensor &x, const at::Tensor &weights, const at::Tensor &edges)
{
  const at::Tensor from = x.contiguous(), pairs = edges.contiguous(), w = weights.contiguous();
  if (pairs.numel() > 0) TORCH_CHECK_INDEX(pairs.max().item<std::int64_t>() < x.size(0), "rows");
  at::Tensor y = at::zeros_like(from);
  const std::int64_t width = x.size(1), count = pairs.size(1);
  const auto *read = from.const_data_ptr<double>();
  const auto *pair = pairs.const_data_ptr<std::int64_t>();
  const auto *factor = w.const_data_ptr<double>();
  auto *sum = y.mutable_data_ptr<double>();
  for (std::int64_t e = 0; e < count; ++e)
    for (std::int64_t c = 0; c < width; ++c) {
      const std::int64_t i = pair[e] * width + c, j = pair[count + e] * width + c;
      sum[i] += factor[e] * read[j];
      sum[j] -= 0.5 * factor[e] * read[i];
    }
  return y;
}

struct Mutual : Function<Mutual> {
  static variable_list forward(AutogradContext *context, const at::Tensor &x,
                               const at::Tensor &weights, const at::Tensor &edges)
  {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({x, weights, edges});
    return {mutual_kernel(x, weights, edges)};
  }
  static variable_list backward(AutogradContext *context, variable_list gradients)
  {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &w = saved[1], &edges = saved[2], &g = gradients[0];
    const at::Tensor i = edges.select(0, 0), j = edges.select(0, 1);
    const at::Tensor gi = g.index_select(0, i), gj = g.index_select(0, j);
    const at::Tensor xi = x.index_select(0, i), xj = x.index_select(0, j);
    const at::Tensor columns = w.unsqueeze(1);
    const at::Tensor gx =
        at::zeros_like(x).index_add(0, j, columns * gi).index_add(0, i, -0.5 * columns * gj);
    return {gx, (gi * xj - 0.5 * gj * xi).sum(1), at::Tensor()};
  }
};

at::Tensor mutual(const at::Tensor &x, const at::Tensor &weights, const at::Tensor &edges)
{
  return Mutual::apply(x, weights, edges)[0];
}

// The same by torch's operators.
at::Tensor mutual_composite(const at::Tensor &x, const at::Tensor &weights, const at::Tensor &edges)
{
  const at::Tensor i = edges.select(0, 0), j = edges.select(0, 1);
  const at::Tensor columns = weights.unsqueeze(1);
  return at::zeros_like(x)
      .index_add(0, i, columns * x.index_select(0, j))
      .index_add(0, j, -0.5 * columns * x.index_select(0, i));
}

// [n, f] -> [f], [f]: sums of the rows and of their squares.
std::tuple<at::Tensor, at::Tensor> moments(const at::Tensor &x)
{
  return {x.sum(0), (x * x).sum(0)};
}

// [n, f] -> [n, f]: every row with every row.
at::Tensor attend(const at::Tensor &x) { return x * at::tanh(x).sum(0, true); }

// The same with a last row that counts for nothing and stays as it is.
at::Tensor attend_padded(const at::Tensor &x)
{
  const std::int64_t n = x.size(0) - 1;
  return at::cat({attend(x.narrow(0, 0, n)), x.narrow(0, n, 1)});
}

at::Tensor &add_into(at::Tensor &x, const at::Tensor &y) { return x.add_(y); }

}    // namespace

TORCH_LIBRARY(mlip_dd_test, library)
{
  library.def("mutual(Tensor x, Tensor weights, Tensor edges) -> Tensor");
  library.def("mutual_composite(Tensor x, Tensor weights, Tensor edges) -> Tensor",
              mutual_composite);
  library.def("moments(Tensor x) -> (Tensor, Tensor)", moments);
  library.def("attend(Tensor x) -> Tensor", attend);
  library.def("attend_padded(Tensor x) -> Tensor", attend_padded);
  library.def("add_into(Tensor(a!) x, Tensor y) -> Tensor(a!)", add_into);
}

TORCH_LIBRARY_IMPL(mlip_dd_test, CPU, library) { library.impl("mutual", mutual_kernel); }
TORCH_LIBRARY_IMPL(mlip_dd_test, Autograd, library) { library.impl("mutual", mutual); }
