// Graphs of host atoms that models take as those of a device: tensors, and no arrays.
#pragma once

#include "graph/graph_source.h"
#include "support/virtual_system.h"

namespace mlip_dd::test {

class BackedSource final : public GraphSource {
 public:
  // Keeps a reference to `view`, whose atoms it reads.
  explicit BackedSource(const VirtualRank &view) : view_(view) {}

  HaloPlan build(Communicator &communicator, std::span<const std::int32_t> model_types,
                 const BuildOptions &options, AtomGraph &graph) override;

 private:
  const VirtualRank &view_;
};

}    // namespace mlip_dd::test
