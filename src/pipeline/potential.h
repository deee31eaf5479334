// The one interface of all potentials: given a rank's graph, the energy of its owned atoms and the
// forces on the rows it holds. No torch, no LAMMPS.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "consolidate/system_outputs.h"
#include "graph/atom_graph.h"
#include "graph/host_atoms.h"
#include "halo/halo_plan.h"
#include "halo/traffic.h"
#include "pipeline/atom_fields.h"
#include "spec/mlip_spec.h"

namespace mlip_dd {

struct OutputTensors;

struct PotentialRequest {
  bool node_energy = false;    // where a potential has none of its own, it must say so
  bool node_virial = false;
  bool centroid_virial = false;               // of potentials that have one of their own
  std::vector<std::string> gradients;         // input fields to differentiate the energy by
  std::vector<std::string> output_fields;     // per-atom outputs to give
  std::vector<std::string> system_outputs;    // outputs of the whole system to give
  bool defer = false;    // forces, virials and gradients are left to differentiate()
  const AtomFields *fields = nullptr;    // every input field, [n_owned + n_halo, width]
  RunningRanks running;                  // the ranks with atoms
};

// eV, Angstrom. Sized and zeroed by the caller; potentials add to it. Rows are [owned | halo]: what
// is added to a halo row belongs to its owner, to whom the caller brings it.
struct PotentialOutput {
  double energy = 0.0;                // sum over owned atoms
  std::array<double, 9> virial{};     // this rank's part of sum x_a F_b, row-major
  std::vector<double> node_energy;    // [n_owned]
  std::vector<double> forces;         // [n_owned + n_halo, 3], -d(sum over ranks of energy)/dx
  std::vector<double>
      node_virial;    // [n_owned + n_halo, 9], summing to virial; empty unless asked for
  std::vector<double> centroid_virial;    // the same, shared as the heat flux needs it
  std::shared_ptr<OutputTensors>
      tensors;             // in place of the arrays above where the graph has a DeviceGraph;
                           // fields and gradients are tensors there too
  AtomFields fields;       // the output fields asked for, [n_owned, width]
  SystemValues systems;    // the system's outputs asked for: what this rank's model gave, if it ran
  AtomFields gradients;    // d(sum over ranks of energy)/d(input field), [n_owned + n_halo, width];
                           // of the fields asked for
};

// How halo rows get their features.
enum class HaloMode {
  exchange,    // one gather per layer; the graph holds edges of owned receivers
  padded,      // the same, and the model sees halo rows too
  wide         // everything is local; the graph holds the receivers of all layers
};

class Potential {
 public:
  virtual ~Potential() = default;

  virtual double cutoff() const = 0;    // Angstrom

  // Collective. The rows of later evaluations are those of `plan`.
  virtual void set_plan(const HaloPlan &plan, HaloMode mode) = 0;

  // Whether evaluate() reads the edges within the cutoff; where not, it works on the candidates
  // itself and the caller leaves the edges empty.
  virtual bool uses_edges() const { return true; }

  // Whether it computes on graphs with a DeviceGraph on this device (cpu, cuda:N), into
  // OutputTensors.
  virtual bool takes_device_graph(const std::string & /*device*/) const { return false; }

  // Whether anything may be added to halo rows of forces, per-atom virials or gradients. Where not,
  // the caller brings nothing home, and these outputs may have owned rows alone.
  virtual bool adds_to_halo_rows() const { return true; }

  // Whether the virial that the heat flux needs is another than node_virial, which shares each
  // pair's evenly: so for many-body energies.
  virtual bool has_centroid_virial() const { return false; }

  // Why the heat flux from these virials is an approximation: energies of atoms that depend on more
  // than their own pairs. Empty where it is exact.
  virtual std::string flux_caveat() const { return {}; }

  // Whether rows on a GPU leave from there; known after set_plan().
  virtual bool sends_from_gpu() const { return false; }

  // Per-atom inputs that must be given with each request, and per-atom outputs that can be had.
  virtual std::vector<std::string> input_fields() const { return {}; }
  virtual std::vector<std::string> output_fields() const { return {}; }

  // Outputs of the whole system that can be had. Those that the spec gives no kind may as well be
  // per atom, and stand among output_fields() too.
  virtual std::map<std::string, OutputRule> system_outputs() const { return {}; }

  // Once each: what a user should know of how outputs are understood. Not the same on all ranks.
  virtual std::vector<std::string> take_warnings() { return {}; }

  // Collective: every rank evaluates, also without atoms.
  // Throws Error; peers may then be waiting, so the caller must end them too.
  virtual void evaluate(const AtomGraph &graph, const HostStep &step,
                        const PotentialRequest &request, PotentialOutput &output) = 0;

  // After an evaluate() that deferred: adds forces, virials and gradients of
  //   energy_seed * energy + sum over `seeds` of <seed, output field>
  // with seeds [n_owned, width] of output fields asked for. Collective as evaluate(), and with the
  // same `graph` and `request`. Only called of potentials that have output fields.
  virtual void differentiate(const AtomGraph &, const PotentialRequest &, double /*energy_seed*/,
                             const AtomFields & /*seeds*/, PotentialOutput &)
  {}

  // Seconds of evaluate() and differentiate() so far that went into derivatives, where they are
  // taken apart from the energy.
  virtual double backward_seconds() const { return 0.0; }

  // Of all exchanges inside evaluate() so far, on this rank.
  virtual Traffic traffic() const = 0;

  // Lines for the log: file, dtype, device, number of parameters.
  virtual std::vector<std::string> description() const = 0;
};

struct PotentialOptions {
  std::string device = "auto";      // auto, cpu, cuda, cuda:N
  int threads = 1;                  // of the tensor library, per rank
  std::string messages = "auto";    // auto, host, device: where rows of a GPU lie while they travel
  MLIPSpec spec = {};               // of its rows, operators and outputs
  bool lanes = false;               // native potentials: GPU kernels' bodies on the CPU, for tests
};

}    // namespace mlip_dd
