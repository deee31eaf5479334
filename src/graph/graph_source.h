// Where models' graphs come from at a reneighbouring: the host program's atoms and neighbour list.
// No torch, no LAMMPS.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/build.h"

namespace mlip_dd {

class GraphSource {
 public:
  virtual ~GraphSource() = default;

  // Where its arrays lie, as PotentialOptions::device names it.
  virtual std::string device() const { return "cpu"; }

  // Collective; see build_graph. `model_types` maps the host's element to the model's type; empty:
  // they are the same. Sets graph.device where `options` want one and the source can make it.
  virtual HaloPlan build(Communicator &communicator, std::span<const std::int32_t> model_types,
                         const BuildOptions &options, AtomGraph &graph) = 0;
};

// Atoms and neighbours in the host's memory.
class HostGraphSource final : public GraphSource {
 public:
  // Keeps references to `neighbours` and to what `atoms` views.
  HostGraphSource(const HostAtoms &atoms, const NeighbourList &neighbours)
      : atoms_(atoms), neighbours_(neighbours)
  {}

  HaloPlan build(Communicator &communicator, std::span<const std::int32_t> model_types,
                 const BuildOptions &options, AtomGraph &graph) override;

 private:
  HostAtoms atoms_;
  const NeighbourList &neighbours_;
  std::vector<std::int32_t> types_;
};

}    // namespace mlip_dd
