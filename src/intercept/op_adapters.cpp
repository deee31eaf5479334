#include "intercept/op_adapters.h"

#include <ATen/ops/cat.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/library.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/nearest.h"
#include "intercept/active.h"
#include "intercept/handlers.h"
#include "intercept/interception.h"
#include "intercept/system_reductions.h"

namespace mlip_dd {

namespace {

constexpr const char *kPlace = "/core/custom_ops";

c10::Dispatcher &dispatcher() { return c10::Dispatcher::singleton(); }

// Every operator with a schema and this name, whatever its overload.
std::vector<OperatorHandle> overloads_of(const std::string &name)
{
  std::vector<OperatorHandle> found;
  for (const c10::OperatorName &other : dispatcher().getAllOpNames())
    if (other.name == name)
      if (const auto op = dispatcher().findSchema(other)) found.push_back(*op);
  return found;
}

[[noreturn]] void refuse_unknown(const std::string &name)
{
  const std::string start = name.substr(0, name.find("::") + 2);
  std::vector<std::string> known;
  for (const c10::OperatorName &other : dispatcher().getAllOpNames())
    if (other.name.starts_with(start)) known.push_back(other.name);
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const std::string nearest = nearest_name(name, candidates);
  throw Error({"no operator of this name is registered", "\"" + name + "\"", kPlace,
               nearest.empty() ? "Name the library that registers it in /model/libraries"
                               : "Did you mean \"" + nearest + "\"?"});
}

bool aliases(const c10::Argument &argument) { return argument.alias_info() != nullptr; }

// Whether the overload has all that the adapter speaks of.
bool has_positions(const OperatorHandle &op, const OpAdapter &adapter)
{
  const auto within = [](const auto &transforms, std::size_t count) {
    return std::all_of(transforms.begin(), transforms.end(), [&](const auto &entry) {
      return entry.first >= 0 && static_cast<std::size_t>(entry.first) < count;
    });
  };
  return within(adapter.arg_transforms, op.schema().arguments().size()) &&
         within(adapter.output_transforms, op.schema().returns().size());
}

void refuse_in_place(const OperatorHandle &op, const OpAdapter &adapter)
{
  const auto &schema = op.schema();
  bool in_place = false;
  for (const auto &[position, transform] : adapter.arg_transforms) {
    const c10::Argument &argument = schema.arguments()[static_cast<std::size_t>(position)];
    in_place = in_place || (aliases(argument) && argument.alias_info()->isWrite());
  }
  for (const auto &[position, transform] : adapter.output_transforms)
    in_place = in_place || aliases(schema.returns()[static_cast<std::size_t>(position)]);
  if (in_place)
    throw Error(
        {"an operator that writes into its arguments cannot be adapted: what it writes "
         "into would be a copy",
         toString(op.operator_name()), kPlace, "Use a form of it that returns a new tensor"});
}

// Torch's registrations are for the life of the process.
void register_once(const OperatorHandle &op, torch::CppFunction &&handler)
{
  static std::mutex mutex;
  static std::list<torch::Library> registrations;
  const std::lock_guard lock(mutex);
  if (op.hasKernelForDispatchKey(kInterceptionKey)) return;
  const std::string &name = op.operator_name().name;
  const std::size_t colons = name.find("::");
  std::string own = name.substr(colons + 2);
  if (!op.operator_name().overload_name.empty()) own += "." + op.operator_name().overload_name;
  torch::Library &library = registrations.emplace_back(torch::Library::IMPL, name.substr(0, colons),
                                                       kInterceptionKey, __FILE__, __LINE__);
  library.impl(own.c_str(), std::move(handler));
}

[[noreturn]] void refuse_rows(const OperatorHandle &op, const std::string &what,
                              const at::Tensor &tensor, const std::string &expected)
{
  std::ostringstream found;
  found << what << " of shape " << tensor.sizes() << ", expected " << expected;
  throw Error({"an adapter of the spec does not fit an operator of the model", found.str(),
               toString(op.operator_name()), "Correct " + std::string(kPlace)});
}

std::int64_t rows_of(const at::Tensor &tensor) { return tensor.dim() == 0 ? -1 : tensor.size(0); }

// [rows, ...] and a last row -> the two apart.
struct Padded {
  at::Tensor rows, last;
};
Padded split_last(const at::Tensor &tensor)
{
  const std::int64_t rows = tensor.size(0) - 1;
  return {tensor.narrow(0, 0, rows), tensor.narrow(0, rows, 1)};
}

at::Tensor adapt(Interception &interception, const OperatorHandle &op, ArgTransform transform,
                 const at::Tensor &argument)
{
  const HaloPlan &plan = interception.plan();
  const std::int64_t rows = rows_of(argument), node_rows = interception.node_rows();
  const std::string as_nodes = std::to_string(node_rows) + " rows";
  switch (transform) {
    case ArgTransform::GatherInputs:
      if (rows != node_rows) refuse_rows(op, "gather_inputs: an argument", argument, as_nodes);
      if (interception.options().storage == RowStorage::local) return argument;
      return interception.extend(argument, 0);
    case ArgTransform::GatherInputsFull: {
      if (rows == node_rows) return interception.extend(argument, 0);
      if (rows != node_rows + 1)
        refuse_rows(op, "gather_inputs_full: an argument", argument,
                    as_nodes + ", or one more for padding");
      const Padded parts = split_last(argument);
      return at::cat({interception.extend(parts.rows, 0), parts.last});
    }
    case ArgTransform::SliceOwned:
      if (rows != plan.n_owned && rows != plan.n_rows())
        refuse_rows(op, "slice_owned: an argument", argument,
                    std::to_string(plan.n_rows()) + " rows, of which the first " +
                        std::to_string(plan.n_owned) + " are owned");
      return argument.narrow(0, 0, plan.n_owned);
  }
  return argument;
}

at::Tensor adapt(Interception &interception, const OperatorHandle &op, OutputTransform transform,
                 const at::Tensor &result)
{
  const HaloPlan &plan = interception.plan();
  const std::string all_rows = std::to_string(plan.n_rows()) + " rows";
  switch (transform.kind) {
    case OutputTransformKind::ScatterOutputs:
      if (rows_of(result) != plan.n_rows())
        refuse_rows(op, "scatter_outputs: a result", result, all_rows);
      return interception.options().storage == RowStorage::owned ? interception.fold(result, 0)
                                                                 : interception.correct(result);
    case OutputTransformKind::SliceOutputsOwned: {
      if (rows_of(result) == plan.n_rows()) return result.narrow(0, 0, plan.n_owned);
      if (rows_of(result) != plan.n_rows() + 1)
        refuse_rows(op, "slice_outputs_owned: a result", result,
                    all_rows + ", or one more for padding");
      const Padded parts = split_last(result);
      return at::cat({parts.rows.narrow(0, 0, plan.n_owned), parts.last});
    }
    case OutputTransformKind::AllReduceSum:
      return interception.sum_over_ranks(result, transform.replicated_consumer);
  }
  return result;
}

template <class Transforms, class ValueAt>
void adapt_all(Interception &interception, const OperatorHandle &op, const Transforms &transforms,
               const char *what, ValueAt value_at)
{
  for (const auto &[position, transform] : transforms) {
    c10::IValue &value = value_at(static_cast<std::size_t>(position));
    if (value.isNone()) continue;
    if (!value.isTensor())
      throw Error({"an adapter of the spec names what is no tensor",
                   what + std::string(" ") + std::to_string(position), toString(op.operator_name()),
                   "Correct " + std::string(kPlace)});
    value = adapt(interception, op, transform, value.toTensor());
  }
}

// A kernel of the operator's own would run, and not its description by other operators.
bool is_opaque(const OperatorHandle &op)
{
  using c10::DispatchKey;
  if (!op.hasKernelForDispatchKey(DispatchKey::CompositeImplicitAutograd)) return true;
  for (const DispatchKey key : {DispatchKey::CPU, DispatchKey::CUDA, DispatchKey::Autograd,
                                DispatchKey::AutogradCPU, DispatchKey::AutogradCUDA})
    if (op.hasKernelForDispatchKey(key)) return true;
  return false;
}

bool says_what_rows_count(const Interception &interception, const at::Tensor &tensor)
{
  const IndexRole role = interception.role_of(tensor);
  return may_count_halo_rows(role) || counts_systems(role) || role == IndexRole::derived;
}

void on_guarded(const OperatorHandle &op, c10::DispatchKeySet keys, Stack *stack)
{
  if (run_adapted(op, stack)) return;
  const c10::DispatchKeySet below =
      keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kInterceptionKey);
  Interception *interception = active_interception();
  if (interception && interception->options().storage != RowStorage::local && is_opaque(op))
    for_tensors(op, stack, [&](const at::Tensor &tensor) {
      if (says_what_rows_count(*interception, tensor))
        throw Error(
            {"an operator is given the senders of edges, or the systems of rows, and it "
             "is not known what it does with them",
             "", toString(op.operator_name()),
             "Describe it in " + std::string(kPlace) + ", or use `halo wide`"});
    });
  op.redispatchBoxed(below, stack);
}

}    // namespace

OpAdapters::OpAdapters(const std::vector<OpAdapter> &adapters)
{
  install_operator_handlers();
  for (const OpAdapter &adapter : adapters) {
    std::vector<OperatorHandle> found;
    if (const auto op = dispatcher().findSchema({adapter.op, ""}))
      found.push_back(*op);
    else
      found = overloads_of(adapter.op);
    if (found.empty()) refuse_unknown(adapter.op);
    std::erase_if(found, [&](const OperatorHandle &op) { return !has_positions(op, adapter); });
    if (found.empty())
      throw Error({"an adapter names an argument or a result that its operator lacks",
                   "\"" + adapter.op + "\"", kPlace, "Positions count from 0"});
    for (const OperatorHandle &op : found) {
      refuse_in_place(op, adapter);
      const auto [place, fresh] = by_name_.emplace(op.operator_name(), adapter);
      if (!fresh && !(place->second == adapter))
        throw Error({"two adapters of one operator disagree", "\"" + adapter.op + "\"", kPlace,
                     "Remove one of them"});
      register_once(op, torch::CppFunction::makeFromBoxedFunction<&on_guarded>());
    }
  }
}

const OpAdapter *OpAdapters::find(const OperatorHandle &op) const
{
  if (by_name_.empty()) return nullptr;
  const auto found = by_name_.find(op.operator_name());
  return found == by_name_.end() ? nullptr : &found->second;
}

template <class Condition>
bool OpAdapters::any_sum(Condition condition) const
{
  for (const auto &[name, adapter] : by_name_)
    for (const auto &[position, output] : adapter.output_transforms)
      if (output.kind == OutputTransformKind::AllReduceSum && condition(output)) return true;
  return false;
}

bool OpAdapters::sum_over_ranks() const
{
  return any_sum([](const OutputTransform &) { return true; });
}

bool OpAdapters::replicated() const
{
  return any_sum([](const OutputTransform &sum) { return sum.replicated_consumer; });
}

bool run_adapted(const OperatorHandle &op, Stack *stack)
{
  Interception *interception = active_interception();
  if (!interception || !interception->options().adapters) return false;
  const OpAdapter *adapter = interception->options().adapters->find(op);
  if (!adapter) return false;
  const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
  const std::size_t arguments = op.schema().arguments().size();
  const std::size_t results = op.schema().returns().size();
  adapt_all(
      *interception, op, adapter->arg_transforms,
      "argument", [&](std::size_t k) -> auto & { return torch::jit::peek(*stack, k, arguments); });
  op.callBoxed(stack);
  adapt_all(
      *interception, op, adapter->output_transforms,
      "result", [&](std::size_t k) -> auto & { return torch::jit::peek(*stack, k, results); });
  return true;
}

std::vector<c10::OperatorName> index_operators()
{
  std::vector<c10::OperatorName> names;
  for (const c10::OperatorName &name : dispatcher().getAllOpNames()) {
    if (!name.name.starts_with("aten::")) continue;
    const auto op = dispatcher().findSchema(name);
    if (!op) continue;
    const auto &arguments = op->schema().arguments();
    if (std::any_of(arguments.begin(), arguments.end(), [](const c10::Argument &argument) {
          // Numbers that choose one of several are called so too.
          return (argument.name() == "index" || argument.name() == "indices") &&
                 argument.type()->kind() != c10::TypeKind::IntType;
        }))
      names.push_back(name);
  }
  return names;
}

void guard_operators(const std::vector<c10::OperatorName> &names)
{
  for (const c10::OperatorName &name : names)
    if (const auto op = dispatcher().findSchema(name))
      register_once(*op, torch::CppFunction::makeFromBoxedFunction<&on_guarded>());
}

}    // namespace mlip_dd
