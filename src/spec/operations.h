// Combining and editing specs. Every function returns a new spec and leaves its arguments alone.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "spec/mlip_spec.h"

namespace mlip_dd {

// One spec for two models that share their rows. Operators, helpers, shard_fields and output sets
// are joined (a's first), modes take the stronger one, keys of nodes are a's where it has them.
// Throws Error where the two contradict: other policies, another kind or reduction of one output.
// A compile policy survives only where both agree; what is dropped is described in `warnings`.
MLIPSpec merge(const MLIPSpec &a, const MLIPSpec &b, std::vector<std::string> *warnings = nullptr);

using OutputDeclarations = std::vector<std::pair<std::string, OutputSpec>>;

// Declares outputs anew, in order: a declared reduction replaces the old one, and so does a kind
// unless it is Unknown. Throws Error for a per-node output that is to be summed over ranks.
MLIPSpec with_outputs(MLIPSpec spec, const OutputDeclarations &outputs);

using Adapter = std::variant<OpAdapter, HelperAdapter>;

// Appends operators to custom_ops and helpers to third_party_helpers; keeps all else.
MLIPSpec with_adapters(MLIPSpec spec, const std::vector<Adapter> &adapters);

// Replaces the compile policy (nullopt clears it); keeps all else.
MLIPSpec with_compile(MLIPSpec spec, const std::optional<CompilePolicy> &compile);

// Changes modes of the policy: "scatter" or "scatter_mode", "gather" or "gather_mode", each with a
// word of the wire format; of two changes of one mode the later wins. Throws Error for other words,
// and for a policy without modes.
using PolicyChange = std::pair<std::string_view, std::string_view>;
MLIPSpec replace_policy(MLIPSpec spec, std::span<const PolicyChange> changes);

// Positions of an operator's arguments and results by the part they play.
struct OpRoles {
  std::vector<int> gather_inputs;
  std::vector<int> gather_inputs_full;
  std::vector<int> owned_slice_inputs;
  std::vector<int> scatter_outputs;
  std::vector<int> all_reduce_outputs;
  std::vector<int> slice_outputs_owned;
};

// Adds a transform for each role to the adapter; a transform that stands at a position already
// wins. Throws Error when two roles claim one position.
OpAdapter with_roles(OpAdapter adapter, const OpRoles &roles);

}    // namespace mlip_dd
