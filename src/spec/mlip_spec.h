// The distribution spec of one model, version 2: how rows are stored over ranks, which operators
// exchange, and what becomes of each output. Plain values; no torch, no LAMMPS, no files.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace mlip_dd {

// What a node scatter leaves on halo rows: `HaloCorrection` adds their partial sums into the owners
// and copies the owners' sums back; `Local` exchanges nothing. Ordered: merging takes the larger.
enum class ScatterMode { Local, HaloCorrection };

// What a node gather reads on halo rows: `HaloRead` fetches the owners' values first; `Local` reads
// what is there. Ordered: merging takes the larger.
enum class GatherMode { Local, HaloRead };

enum class PolicyKind {
  Local,            // no rows of other ranks and no exchange
  Shard,            // owned rows only; those of other ranks are there while they are read
  GraphParallel,    // owned rows by index, every other row gathered at each layer
  Halo,             // owned and halo rows; gathers and scatters as the modes say
  RefreshHalo,      // owned and halo rows; halo rows are only refreshed, never summed into owners
};

// The modes have a meaning for Halo and RefreshHalo only and are Local for the other kinds, so that
// equality is field by field. Make one with the functions below.
struct StoragePolicy {
  PolicyKind kind = PolicyKind::Local;
  ScatterMode scatter_mode = ScatterMode::Local;
  GatherMode gather_mode = GatherMode::Local;

  bool operator==(const StoragePolicy &) const = default;
};

StoragePolicy halo_policy(ScatterMode scatter = ScatterMode::HaloCorrection,
                          GatherMode gather = GatherMode::HaloRead);
StoragePolicy refresh_halo_policy(ScatterMode scatter = ScatterMode::Local,
                                  GatherMode gather = GatherMode::HaloRead);
StoragePolicy graph_parallel_policy();
StoragePolicy shard_policy();
StoragePolicy local_policy();

// True for the kinds whose modes mean something.
bool has_halo_modes(PolicyKind kind);

// What happens to one positional argument of an operator before it runs.
enum class ArgTransform {
  GatherInputs,        // owned rows -> owned and halo rows
  GatherInputsFull,    // owned rows -> every row of the system, and the padding row
  SliceOwned,          // owned and halo rows -> owned rows
};

enum class OutputTransformKind {
  ScatterOutputs,       // halo partial sums into owners, owners' sums back to the halo
  AllReduceSum,         // sum over ranks
  SliceOutputsOwned,    // every row -> owned rows, and the padding row
};

// `replicated_consumer` belongs to AllReduceSum alone: the sum feeds a computation that every rank
// repeats in full, so that the adjoint is the identity.
struct OutputTransform {
  OutputTransformKind kind = OutputTransformKind::ScatterOutputs;
  bool replicated_consumer = false;

  bool operator==(const OutputTransform &) const = default;
};

// Gives one operator, by its qualified name without overload, its distributed meaning. Keys are
// argument and result positions. The operator is looked up when it is installed, not when read.
struct OpAdapter {
  std::string op;
  std::map<int, ArgTransform> arg_transforms;
  std::map<int, OutputTransform> output_transforms;

  bool operator==(const OpAdapter &) const = default;
};

// Adapters of Python objects. They are carried from file to file, mean nothing outside Python, and
// are reported as such. `replacement` is "<module>:<qualified name>".
struct PythonHelper {
  std::string module_path, attr_name;
  std::optional<std::string> replacement;
  bool operator==(const PythonHelper &) const = default;
};
struct JitHelper {
  std::string module_path, attr_name;
  std::optional<std::string> replacement;
  std::string mode = "eager";
  bool operator==(const JitHelper &) const = default;
};
struct MethodHelper {
  std::string module_path, class_name, method_name;
  std::optional<std::string> replacement;
  std::string mode = "wrap";
  bool operator==(const MethodHelper &) const = default;
};
struct ModuleForwardHelper {
  std::string target;
  std::string label = "module_forward";
  bool operator==(const ModuleForwardHelper &) const = default;
};
using HelperAdapter = std::variant<PythonHelper, JitHelper, MethodHelper, ModuleForwardHelper>;

// Per-atom fields that are distributed with the rows unless a spec says otherwise.
std::vector<std::string> default_shard_fields();

struct DistributionSpec {
  StoragePolicy policy;
  std::vector<OpAdapter> custom_ops;
  std::vector<HelperAdapter> third_party_helpers;
  std::vector<std::string> shard_fields = default_shard_fields();    // empty: distribute none

  // All but `shard_fields`, which says what a host stores and not what a model computes.
  bool operator==(const DistributionSpec &other) const;
};

enum class OutputKind {
  PerNode,     // one row per atom
  PerGraph,    // one value per system
  Global,      // passed on untouched
  Unknown,     // judged by its number of rows
};

enum class Reduce {
  None,         // what the kind implies
  OwnedOnly,    // keep the owned rows, add nothing from other ranks
  AllReduce,    // sum over ranks
};

// How one output is declared by with_outputs().
struct OutputSpec {
  OutputKind kind = OutputKind::Unknown;
  Reduce reduce = Reduce::None;

  bool operator==(const OutputSpec &) const = default;
};

enum class ForceStrategy {
  ModelInternal,                // the model returns forces
  FrameworkFromNodeEnergy,      // we differentiate the sum of owned per-atom energies
  FrameworkFromGlobalEnergy,    // we differentiate the total energy, or without one that sum
};

struct CompilePolicy {
  bool static_shapes = true;
  ForceStrategy force_strategy = ForceStrategy::ModelInternal;
  bool stress_via_strain = false;    // virial from a strain of positions and cell

  bool operator==(const CompilePolicy &) const = default;
};

struct MLIPSpec {
  DistributionSpec distribution;
  bool system_reductions = true;                 // sums over a system count owned rows of all ranks
  std::optional<std::string> node_energy_key;    // per-atom output whose owned sum is the energy
  std::optional<std::string> node_virial_key;    // per-atom output whose owned sum is the virial
  bool gp_replicate_geometry = false;            // graph_parallel: every rank holds all positions
  std::set<std::string> owned_only_outputs;
  std::set<std::string> all_reduce_outputs;
  std::map<std::string, OutputKind> output_kinds;
  std::optional<CompilePolicy> compile;

  // All but `compile` and `shard_fields`: two specs are equal when they distribute a model alike.
  bool operator==(const MLIPSpec &other) const;
};

// True when every field is equal, `compile` and `shard_fields` included.
bool identical(const MLIPSpec &a, const MLIPSpec &b);

// Declared kind of an output; Unknown when it is not declared.
OutputKind output_kind(const MLIPSpec &spec, const std::string &output);

// Declared reduction of an output; AllReduce wins where a lenient reader let both through.
Reduce output_reduce(const MLIPSpec &spec, const std::string &output);

}    // namespace mlip_dd
