// The peer that the pair style is measured against: the same TorchScript file, loaded and called
// from C++ in a loop on a fixed graph, with nothing of mlip-dd in between.
//
//   mlip_dd_bench_bare spec.json graph.txt steps
//
// graph.txt: "atoms edges", then one type index per atom, then "receiver sender x y z" per edge.
// Prints the seconds of each step.
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "potentials/torchscript/model_call.h"
#include "spec/families.h"
#include "spec/spec_file.h"

namespace {

struct Graph {
  at::Tensor types, edge_index, edge_vectors;
};

Graph read_graph(const std::string &path, int receiver_row, c10::ScalarType dtype)
{
  std::ifstream file(path);
  std::int64_t atoms = 0, edges = 0;
  file >> atoms >> edges;
  Graph graph{at::empty({atoms}, at::kLong), at::empty({2, edges}, at::kLong),
              at::empty({edges, 3}, at::kDouble)};
  for (std::int64_t i = 0; i < atoms; ++i) file >> graph.types.mutable_data_ptr<std::int64_t>()[i];
  auto *index = graph.edge_index.mutable_data_ptr<std::int64_t>();
  auto *vectors = graph.edge_vectors.mutable_data_ptr<double>();
  for (std::int64_t e = 0; e < edges; ++e)
    file >> index[receiver_row * edges + e] >> index[(1 - receiver_row) * edges + e] >>
        vectors[3 * e] >> vectors[3 * e + 1] >> vectors[3 * e + 2];
  if (!file) throw std::runtime_error("cannot read the graph " + path);
  graph.edge_vectors = graph.edge_vectors.to(dtype);
  return graph;
}

}    // namespace

int main(int argc, char **argv)
{
  if (argc != 4) {
    std::fprintf(stderr, "usage: mlip_dd_bench_bare spec.json graph.txt steps\n");
    return 2;
  }
  try {
    const mlip_dd::SpecFile file = mlip_dd::read_spec_file(argv[1]);
    const mlip_dd::ModelSpec &model = file.model.value();
    const mlip_dd::Family &family = *mlip_dd::find_family(model.family);
    torch::jit::Module module = torch::jit::load(model.file);
    module.eval();
    for (at::Tensor parameter : module.parameters()) parameter.requires_grad_(false);
    const mlip_dd::ModelCall call(module, model);
    const Graph graph = read_graph(argv[2], family.receiver_row,
                                   model.dtype == "float64" ? at::kDouble : at::kFloat);
    at::set_num_threads(1);
    const torch::jit::GraphOptimizerEnabledGuard unoptimised(false);

    const int steps = std::stoi(argv[3]);
    for (int step = 0; step < steps; ++step) {
      const auto start = std::chrono::steady_clock::now();
      const at::Tensor vectors = graph.edge_vectors.detach().clone().requires_grad_(true);
      const at::Tensor count = at::full({1}, graph.types.numel(), at::kLong);
      const std::map<std::string, c10::IValue> inputs{{"types", graph.types},
                                                      {"edge_index", graph.edge_index},
                                                      {"edge_vectors", vectors},
                                                      {"n_owned", count},
                                                      {"num_atoms", count}};
      const at::Tensor energy = call.output(call.run(module, inputs), "node_energy").sum();
      const at::Tensor gradient = torch::autograd::grad({energy}, {vectors})[0];
      const double seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      std::printf("%.6f\n", seconds);
      if (step + 1 == steps) std::printf("# energy %.8f eV\n", energy.item<double>());
    }
  } catch (const std::exception &error) {
    std::fprintf(stderr, "mlip_dd_bench_bare: %s\n", error.what());
    return 1;
  }
  return 0;
}
