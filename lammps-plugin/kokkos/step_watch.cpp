#include "step_watch.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <Kokkos_Core.hpp>

#include <cstring>
#include <string_view>

namespace mlip_dd {

namespace {

namespace tools = Kokkos::Tools::Experimental;

StepCounts counted;    // Kokkos's callbacks carry no pointer of ours

void kernel_begins(const char *, std::uint32_t, std::uint64_t *) { ++counted.kernels; }
void fence_begins(const char *, std::uint32_t, std::uint64_t *) { ++counted.waits; }

bool is_host(const Kokkos_Profiling_SpaceHandle &space)
{
  return std::strstr(space.name, "Host") != nullptr;
}

void copy_begins(Kokkos_Profiling_SpaceHandle to, const char *, const void *,
                 Kokkos_Profiling_SpaceHandle from, const char *, const void *, std::uint64_t bytes)
{
  if (is_host(to) == is_host(from)) return;
  ++counted.copies;
  counted.bytes += static_cast<std::int64_t>(bytes);
}

std::unique_ptr<at::ObserverContext> operator_begins(const at::RecordFunction &call)
{
  ++counted.operators;
  const std::string_view name = call.name();
  if (name == "aten::_local_scalar_dense") ++counted.waits;
  const auto inputs = call.inputs();
  if (name != "aten::copy_" || inputs.size() < 2 || !inputs[0].isTensor() || !inputs[1].isTensor())
    return nullptr;
  const at::Tensor &to = inputs[0].toTensor(), &from = inputs[1].toTensor();
  if (to.device() == from.device()) return nullptr;
  ++counted.copies;
  counted.bytes += static_cast<std::int64_t>(from.nbytes());
  return nullptr;
}

}    // namespace

struct StepWatch::Before {
  tools::EventSet events;
  at::CallbackHandle operators;
};

StepWatch::StepWatch() : before_(std::make_unique<Before>())
{
  counted = {};
  before_->events = tools::get_callbacks();
  tools::set_begin_parallel_for_callback(kernel_begins);
  tools::set_begin_parallel_reduce_callback(kernel_begins);
  tools::set_begin_parallel_scan_callback(kernel_begins);
  tools::set_begin_fence_callback(fence_begins);
  tools::set_begin_deep_copy_callback(copy_begins);
  before_->operators = at::addThreadLocalCallback(at::RecordFunctionCallback(operator_begins)
                                                      .needsInputs(true)
                                                      .scopes({at::RecordScope::FUNCTION}));
}

StepWatch::~StepWatch()
{
  at::removeCallback(before_->operators);
  tools::set_callbacks(before_->events);
}

const StepCounts &StepWatch::counts() const { return counted; }

}    // namespace mlip_dd
