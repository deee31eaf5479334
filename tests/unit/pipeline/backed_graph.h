// Graphs of host atoms that models take as those of a device: tensors, and no arrays.
#pragma once

#include <c10/core/Device.h>

#include "graph/graph_source.h"
#include "support/virtual_system.h"

namespace mlip_dd::test {

class BackedSource final : public GraphSource {
 public:
  // Keeps a reference to `view`, whose atoms it reads. The tensors are on `device`.
  explicit BackedSource(const VirtualRank &view, c10::Device device = c10::kCPU)
      : view_(view), device_(device)
  {}

  std::string device() const override { return device_.str(); }

  HaloPlan build(Communicator &communicator, std::span<const std::int32_t> model_types,
                 const BuildOptions &options, AtomGraph &graph) override;

 private:
  const VirtualRank &view_;
  c10::Device device_;
};

}    // namespace mlip_dd::test
