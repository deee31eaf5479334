#include "property/toy_model.h"

#include <ATen/ATen.h>

#include <array>
#include <sstream>

#include "potentials/torchscript/operator_libraries.h"
#include "support/model_run.h"
#include "support/script.h"

namespace mlip_dd::test {

namespace {

constexpr std::array<const char *, kToyWays> kWays{
    "y = y.index_add(0, receivers, m)",
    "y.scatter_add_(0, receivers.unsqueeze(1).expand(-1, m.size(1)), m)",
    "y = y.index_put([receivers], m, accumulate=True)",
    "y = y.scatter_reduce(0, receivers.unsqueeze(1).expand(-1, m.size(1)), m, 'sum')",
};

bool by_positions(const Toy &toy) { return toy.form != ToyForm::edge_vectors; }

std::vector<std::string> inputs_of(const Toy &toy)
{
  std::vector<std::string> inputs{"types", "edge_index"};
  if (by_positions(toy))
    inputs.insert(inputs.end(), {"positions", "edge_unit_shifts", "cell"});
  else
    inputs.push_back("edge_vectors");
  if (toy.system_sums) inputs.push_back("batch");
  if (toy.charges) inputs.push_back("charges");
  return inputs;
}

void write_layer(const Toy &toy, int layer, std::ostream &out)
{
  const std::string weights = "self.mix[" + std::to_string(layer) + "]";
  const char *indent = "        ";
  out << indent << "sent = x.index_select(0, senders)\n";
  out << indent << "m = w.unsqueeze(1) * sent * (1.0 + 0.3 * (r @ self.angular))\n";
  out << indent << "y = torch.zeros_like(x)\n";
  out << indent << kWays.at(static_cast<std::size_t>(toy.way)) << "\n";
  if (toy.sends_back)
    out << indent << "y = y.index_add(0, senders, -0.4 * w.unsqueeze(1) * x[receivers])\n";
  if (toy.custom_operator)
    out << indent << "y = y + 0.5 * mlip_dd_test.mutual(x, w, edge_index)\n";
  if (toy.system_sums) {
    out << indent << "total = torch.zeros([1, x.size(1)], dtype=torch.float64)"
        << ".index_add(0, batch, torch.tanh(y))\n";
    out << indent << "y = y + torch.tanh(0.1 * total)[batch] * x\n";
  }
  out << indent << "x = x + torch.tanh(y @ " << weights << ")\n";
}

}    // namespace

Toy draw_toy(std::mt19937_64 &random)
{
  const auto below = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  Toy toy;
  toy.form = static_cast<ToyForm>(below(3));
  toy.depth = 1 + below(4);
  toy.width = 1 + below(4);
  toy.way = below(kToyWays);
  toy.sends_back = below(3) == 0;
  toy.system_sums = below(2) == 0;
  toy.custom_operator = below(4) == 0;
  // One that differentiates inside has no gradient left for others.
  toy.charges = toy.form != ToyForm::forces_inside && below(2) == 0;
  toy.seed = static_cast<unsigned>(random());
  return toy;
}

std::string describe(const Toy &toy)
{
  std::ostringstream text;
  const std::array<const char *, 3> forms{"edge vectors", "positions", "forces inside"};
  text << toy.depth << " layers of width " << toy.width << " by "
       << forms.at(static_cast<std::size_t>(toy.form)) << ", way " << toy.way
       << (toy.sends_back ? ", sends back" : "") << (toy.system_sums ? ", system sums" : "")
       << (toy.custom_operator ? ", custom operator" : "") << (toy.charges ? ", charges" : "");
  return text.str();
}

std::string source_of(const Toy &toy, double cutoff)
{
  std::ostringstream out;
  out.precision(17);
  out << "    def energies(self, types, edge_index, r, batch, charges):\n"
         "        receivers, senders = edge_index[0], edge_index[1]\n"
      << "        w = (1.0 - (r * r).sum(1) / " << cutoff * cutoff << ").clamp(min=0.0) ** 3\n"
      << "        x = self.table.index_select(0, types)\n";
  if (toy.charges) out << "        x = x * (1.0 + 0.5 * charges.unsqueeze(1))\n";
  for (int layer = 0; layer < toy.depth; ++layer) write_layer(toy, layer, out);
  out << "        return (x * x).sum(1)\n\n    def forward(self";
  for (const std::string &input : inputs_of(toy)) out << ", " << input;
  out << "):\n";
  const std::string arguments = std::string(toy.system_sums ? "batch" : "types") + ", " +
                                (toy.charges ? "charges" : "self.table");
  if (!by_positions(toy)) {
    out << "        return self.energies(types, edge_index, edge_vectors, " << arguments << ")\n";
    return out.str();
  }
  const bool inside = toy.form == ToyForm::forces_inside;
  if (inside)
    out << "        strain = torch.zeros([3, 3], dtype=torch.float64)\n"
           "        strain.requires_grad_(True)\n"
           "        positions.requires_grad_(True)\n"
           "        at = positions + positions @ strain\n"
           "        box = cell + cell @ strain\n";
  else
    out << "        at, box = positions, cell\n";
  out << "        r = at[edge_index[1]] - at[edge_index[0]] + edge_unit_shifts @ box\n"
         "        e = self.energies(types, edge_index, r, "
      << arguments << ")\n";
  if (!inside)
    out << "        return e\n";
  else
    out << "        g = torch.autograd.grad([e.sum()], [positions, strain])\n"
           "        f, v = g[0], g[1]\n"
           "        assert f is not None and v is not None\n"
           "        return e, -f, -v\n";
  return out.str();
}

ModelSpec write_toy(const Toy &toy, double cutoff, const std::string &file)
{
  if (toy.custom_operator) load_operator_libraries({MLIP_DD_TEST_OPS});
  auto generator = at::make_generator<at::CPUGeneratorImpl>(toy.seed);
  const auto random = [&](std::initializer_list<std::int64_t> shape) {
    return at::randn(at::IntArrayRef(shape.begin(), shape.size()), generator, at::kDouble);
  };
  scripted(source_of(toy, cutoff), {{"table", random({2, toy.width}) + 0.5},
                                    {"angular", random({3, toy.width})},
                                    {"mix", 0.4 * random({toy.depth, toy.width, toy.width})}})
      .save(file);
  ModelSpec model = generic_model(file, cutoff, toy.depth, inputs_of(toy));
  if (toy.custom_operator) model.libraries = {MLIP_DD_TEST_OPS};
  if (toy.form == ToyForm::forces_inside)
    model.outputs = {{"node_energy", "0"}, {"forces", "1"}, {"virial", "2"}};
  return model;
}

std::vector<OpAdapter> adapters_of(const Toy &toy)
{
  if (!toy.custom_operator) return {};
  return {{"mlip_dd_test::mutual",
           {{0, ArgTransform::GatherInputs}},
           {{0, {OutputTransformKind::ScatterOutputs}}}}};
}

}    // namespace mlip_dd::test
