#include "potentials/dftd3/d3_potential.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <variant>

#include "halo/halo_exchange.h"
#include "potentials/dftd3/d3_model.h"
#include "potentials/dftd3/d3_stages.h"
#include "potentials/pair/native_device.h"
#include "potentials/pair/pair_list.h"

namespace mlip_dd {

namespace {

class D3Potential final : public Potential {
 public:
  D3Potential(const ModelSpec &model, const PotentialOptions &options, Communicator &communicator,
              int local_rank)
      : parameters_(read_d3_parameters(model)),
        exchange_(communicator),
        threads_(options.threads),
        messages_asked_(options.messages),
        device_(native_device(options, local_rank, /*sends_from_gpu=*/true)),
        pairs_(device_)
  {
    const D3Reference reference = read_d3_reference(parameters_.reference, model.elements);
    source_ = reference.source;
    model_ = make_d3_model(parameters_, reference);
    stages_ = device_.lanes ? make_d3_lanes(model_, device_.device)
                            : make_d3_blocks(model_, options.threads);
  }

  double cutoff() const override
  {
    return std::max({model_.cutoff, model_.cn_cutoff, model_.three_body_cutoff});
  }

  // A wide halo's extra rows are not used: halo rows are exchanged in any mode.
  void set_plan(const HaloPlan &plan, HaloMode) override
  {
    choose_messages();
    exchange_.set_plan(plan);
    pairs_.forget();
  }

  bool uses_edges() const override { return false; }
  bool takes_device_graph(const std::string &device) const override
  {
    return device == device_.used;
  }
  bool sends_from_gpu() const override
  {
    return messages_ && messages_->path == MessagePath::device;
  }
  // Each pair is computed by the owner of each of its ends, for its own end.
  bool adds_to_halo_rows() const override { return false; }
  std::string flux_caveat() const override
  {
    return "coefficients of DFT-D3 depend on the neighbours of both atoms";
  }

  void evaluate(const AtomGraph &graph, const HostStep &step, const PotentialRequest &,
                PotentialOutput &output) override
  {
    // A rank without atoms shares no rows with anyone.
    if (graph.n_owned == 0) return;
    const PairView rows = pairs_.take(graph, step, model_.n_types);
    const at::Tensor coordination = exchange_.gather(stages_->count_neighbours(rows));
    const at::Tensor slopes = stages_->add_dispersion(rows, coordination, output);
    stages_->add_coordination_forces(rows, exchange_.gather(slopes), output);
  }

  Traffic traffic() const override { return exchange_.traffic(); }

  std::vector<std::string> description() const override
  {
    std::ostringstream text;
    text << "potential dftd3: " << model_.n_types << " elements, "
         << (model_.zero_damping ? "zero" : "Becke-Johnson") << " damping, ";
    if (!parameters_.functional.empty()) text << parameters_.functional << ": ";
    std::visit([&](const auto &damping) { write(text, damping); }, parameters_.damping);
    text << ", cutoff " << model_.cutoff << " A, neighbours counted within " << model_.cn_cutoff
         << " A";
    if (model_.switch_width > 0.0)
      text << ", switched to zero over the last " << model_.switch_width << " A";
    if (parameters_.s9 > 0.0)
      text << ", three-body term with s9 " << parameters_.s9 << " within "
           << model_.three_body_cutoff << " A";
    text << ", float64 on " << device_.used << ", " << threads_ << " threads" << device_.note;
    std::vector<std::string> lines{text.str(), "dftd3 reference values: " + source_};
    if (messages_ && !messages_->reason.empty()) lines.push_back(describe(*messages_));
    return lines;
  }

 private:
  static void write(std::ostream &text, const D3BeckeJohnson &damping)
  {
    text << "s6 " << damping.s6 << " s8 " << damping.s8 << " a1 " << damping.a1 << " a2 "
         << damping.a2 << " Bohr";
  }
  static void write(std::ostream &text, const D3Zero &damping)
  {
    text << "s6 " << damping.s6 << " s8 " << damping.s8 << " sr6 " << damping.sr6 << " sr8 "
         << damping.sr8;
  }

  // Collective.
  void choose_messages()
  {
    if (messages_ || device_.device.is_cpu()) return;
    messages_ = choose_message_path(messages_asked_, device_.device, exchange_.communicator());
    exchange_.set_message_path(messages_->path);
  }

  D3Parameters parameters_;
  HaloExchange exchange_;
  int threads_;
  std::string messages_asked_;
  std::optional<MessageChoice> messages_;    // of rows on a GPU
  NativeDevice device_;
  std::string source_;
  D3Model model_;
  PairList pairs_;
  std::unique_ptr<D3Stages> stages_;
};

}    // namespace

std::unique_ptr<Potential> make_d3_potential(const ModelSpec &model,
                                             const PotentialOptions &options,
                                             Communicator &communicator, int local_rank)
{
  return std::make_unique<D3Potential>(model, options, communicator, local_rank);
}

}    // namespace mlip_dd
