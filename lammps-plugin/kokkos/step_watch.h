// Counts what one evaluation asks of the device: kernels, copies between host and device, waits.
#pragma once

#include <cstdint>
#include <memory>

namespace mlip_dd {

struct StepCounts {
  std::int64_t kernels = 0;      // of Kokkos
  std::int64_t operators = 0;    // of torch
  std::int64_t copies = 0;       // between host and device, of either
  std::int64_t bytes = 0;        // that those copies moved
  std::int64_t waits = 0;        // for Kokkos's execution space, and for numbers that torch fetched
};

// Counts while it lives, in this thread. Whoever watches Kokkos already goes on afterwards.
class StepWatch {
 public:
  StepWatch();
  ~StepWatch();
  StepWatch(const StepWatch &) = delete;
  StepWatch &operator=(const StepWatch &) = delete;

  const StepCounts &counts() const;

 private:
  struct Before;
  std::unique_ptr<Before> before_;
};

}    // namespace mlip_dd
