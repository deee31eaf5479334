#include "halo/system_sums.h"

#include <ATen/ops/view_as_complex.h>
#include <ATen/ops/view_as_real.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/variable.h>

#include <array>
#include <string>

#include "base/error.h"
#include "base/timer.h"

namespace mlip_dd {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct SumOverRanks : Function<SumOverRanks> {
  static variable_list forward(AutogradContext *context, const at::Tensor &local,
                               const at::Tensor &token, SystemSums *sums, bool replicated_consumer)
  {
    context->saved_data["replicated"] = replicated_consumer;
    context->saved_data["sums"] = reinterpret_cast<std::int64_t>(sums);
    return {sums->sum(local), token.clone()};
  }

  static variable_list backward(AutogradContext *context, variable_list gradients)
  {
    auto *sums = reinterpret_cast<SystemSums *>(context->saved_data["sums"].toInt());
    const bool replicated = context->saved_data["replicated"].toBool();
    return {replicated ? gradients[0] : sums->sum(gradients[0]), gradients[1], at::Tensor(),
            at::Tensor()};
  }
};

}    // namespace

SystemSums::Entry SystemSums::announce(const Entry &entry, bool &running)
{
  // The ranks that run the model say the same; the others contribute nothing to the maximum.
  std::array<std::int64_t, 5> words{entry.numbers, entry.integer ? 1 : 0, entry.constant ? 1 : 0,
                                    entry.pause ? 1 : 0, running ? 1 : 0};
  communicator_.max(words);
  running = words[4] != 0;
  return {words[0], words[1] != 0, words[2] != 0, words[3] != 0};
}

void SystemSums::require_scheduled(const Entry &entry)
{
  while (!fresh_ && position_ < schedule_.size() && schedule_[position_].constant) ++position_;
  if (position_ < schedule_.size() && schedule_[position_] == entry) {
    ++position_;
    return;
  }
  throw Error({"the model sums over the system in another order or shape than before",
               std::to_string(entry.numbers) + " numbers in sum " + std::to_string(position_ + 1),
               "rank " + std::to_string(communicator_.rank()),
               "Export a model whose sums do not depend on the numbers of atoms or on their "
               "positions"});
}

at::Tensor SystemSums::sum(const at::Tensor &local, bool constant)
{
  if (communicator_.size() == 1) return local;
  if (local.is_complex())
    return at::view_as_complex(sum(at::view_as_real(local.detach()).contiguous(), constant));
  const Timer timer(traffic_.seconds);
  const bool integer = at::isIntegralType(local.scalar_type(), /*includeBool=*/true);
  at::Tensor values = local.detach()
                          .to(at::kCPU, integer ? at::kLong : at::kDouble, /*non_blocking=*/false,
                              /*copy=*/true)
                          .contiguous();
  const Entry entry{values.numel(), integer, constant};
  if (entry.numbers > 0) {
    if (recorded_) {
      require_scheduled(entry);
    } else {
      bool running = true;
      if (!(announce(entry, running) == entry))
        throw Error({"ranks sum different things over the system",
                     std::to_string(entry.numbers) + " numbers",
                     "rank " + std::to_string(communicator_.rank()),
                     "Export a model whose sums do not depend on the numbers of atoms"});
      schedule_.push_back(entry);
    }
    const auto count = static_cast<std::size_t>(entry.numbers);
    if (integer)
      communicator_.sum(std::span(values.mutable_data_ptr<std::int64_t>(), count));
    else
      communicator_.sum(std::span(values.mutable_data_ptr<double>(), count));
  }
  ++traffic_.system_sums;
  return values.to(local.device(), local.scalar_type());
}

void SystemSums::pause()
{
  if (communicator_.size() == 1) return;
  Entry entry;
  entry.pause = true;
  if (recorded_) return require_scheduled(entry);
  bool running = true;
  announce(entry, running);
  schedule_.push_back(entry);
}

void SystemSums::end()
{
  if (communicator_.size() == 1) return;
  if (recorded_) {
    while (!fresh_ && position_ < schedule_.size() && schedule_[position_].constant) ++position_;
    if (position_ != schedule_.size())
      throw Error({"the model summed over the system fewer times than before",
                   std::to_string(position_) + " of " + std::to_string(schedule_.size()),
                   "rank " + std::to_string(communicator_.rank()),
                   "Export a model whose sums do not depend on the numbers of atoms"});
  } else {
    bool running = true;
    announce({}, running);
    recorded_ = true;
  }
  fresh_ = false;
}

void SystemSums::replay()
{
  if (communicator_.size() == 1) return;
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  const auto add_nothing = [&](const Entry &entry) {
    const auto count = static_cast<std::size_t>(entry.numbers);
    integers.assign(entry.integer ? count : 0, 0);
    numbers.assign(entry.integer ? 0 : count, 0.0);
    if (entry.integer)
      communicator_.sum(std::span(integers));
    else
      communicator_.sum(std::span(numbers));
    ++traffic_.system_sums;
  };
  if (recorded_) {
    for (; position_ < schedule_.size(); ++position_) {
      const Entry &entry = schedule_[position_];
      if (entry.pause) return void(++position_);
      if (fresh_ || !entry.constant) add_nothing(entry);
    }
  } else {
    bool running = false;
    for (Entry entry = announce({}, running); entry.numbers > 0 || entry.pause;
         running = false, entry = announce({}, running)) {
      schedule_.push_back(entry);
      if (entry.pause) return void(position_ = schedule_.size());
      add_nothing(entry);
    }
    recorded_ = running;
    if (!running) schedule_.clear();    // a system without atoms teaches nothing
  }
  position_ = 0;
  fresh_ = false;
}

Chained system_sum(SystemSums &sums, const at::Tensor &local, const at::Tensor &token,
                   bool replicated_consumer)
{
  variable_list results = SumOverRanks::apply(local, token, &sums, replicated_consumer);
  return {results[0], results[1]};
}

}    // namespace mlip_dd
