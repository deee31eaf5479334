// What a pair_style command made: kept apart from LAMMPS's header, so that torch stays out of
// sight.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/mpi_communicator.h"
#include "host_graph.h"
#include "pair_mlip_dd.h"
#include "pair_options.h"
#include "pipeline/pipeline.h"
#include "potentials/runnable_spec.h"
#include "units.h"

namespace LAMMPS_NS {

// Which neighbour list build the graph belongs to. Every part is the same on all ranks.
struct BuildMark {
  bigint builds = -1;
  bigint step = -1;
  bool operator==(const BuildMark &) const = default;
};

struct PairMlipDD::State {
  std::vector<std::string> arguments;    // of pair_style
  mlip_dd::PairOptions options;
  std::unique_ptr<mlip_dd::RunnableSpec> spec;
  std::string fingerprint;                   // of the spec and all model files
  std::vector<std::string> element_names;    // of pair_coeff, by type; NULL too
  std::vector<std::int32_t> element_of_type;
  mlip_dd::HostUnits units;
  std::unique_ptr<mlip_dd::InterruptibleCommunicator> communicator;
  std::unique_ptr<mlip_dd::Pipeline> pipeline;    // after the communicator: destroyed before it
  std::vector<std::string> host_fields;           // that any of its models needs
  mlip_dd::HostGraph host;
  BuildMark built;
  std::int64_t evaluations = 0;
  bool set_up = false;     // for runs, since the models were loaded
  bool stopped = false;    // in the middle of an evaluation, by an error
  bool told_of_flux = false;
  bool told = false;    // warnings and the account of the graph, in this run
};

// What a restart file says of the style that wrote it.
struct PairMlipDD::Restored {
  std::vector<std::string> arguments;
  std::string fingerprint;
  std::vector<std::string> element_names;    // empty under hybrid, which keeps no coefficients
  std::string problem;    // why the style could not be made again from the file alone
  bool given_anew = false;
};

}    // namespace LAMMPS_NS
