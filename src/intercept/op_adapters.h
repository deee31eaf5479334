// Operators whose meaning over ranks a spec states by name: what is fetched for their arguments
// before they run, and what becomes of their results.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <unordered_map>
#include <vector>

#include "intercept/boxed.h"
#include "spec/mlip_spec.h"

namespace mlip_dd {

class Interception;

// The adapters of one model, by operator. Rows are those of dimension 0. Arguments first:
//   gather_inputs       the model's node rows -> owned and halo rows, halo rows from their owners
//   gather_inputs_full  the same where halo rows are every other atom of the system; a row more
//                       than there are node rows is a padding row, and stays the last
//   slice_owned         owned and halo rows -> owned rows; owned rows stay as they are
// then the operator, then its results:
//   scatter_outputs     owned and halo rows -> node rows: halo rows are added into their owners,
//                       and, where node tensors hold halo rows, the owners' sums copied back
//   slice_outputs_owned owned and halo rows, and a padding row -> owned rows, and the padding row
//   all_reduce_sum      any tensor -> its sum over ranks; its adjoint is the same sum, or with
//                       replicated_consumer the identity
// Where every row is computed locally, gather_inputs changes nothing.
class OpAdapters {
 public:
  OpAdapters() = default;
  // Not collective. Looks each operator up among those that are registered in the process: its
  // default overload, or each overload where there is no default. Throws Error where there is no
  // such operator, argument or result, where one works in place, and where two adapters disagree.
  explicit OpAdapters(const std::vector<OpAdapter> &adapters);

  // nullptr where the spec says nothing of the operator.
  const OpAdapter *find(const OperatorHandle &op) const;

  // Whether any of them sums over all ranks.
  bool sum_over_ranks() const;
  // Whether any of these has a replicated consumer.
  bool replicated() const;

 private:
  template <class Condition>
  bool any_sum(Condition condition) const;

  std::unordered_map<c10::OperatorName, OpAdapter> by_name_;
};

// Runs the operator as the interception's adapters say; false where they say nothing of it.
// Collective where an exchange or a sum is. Throws Error for arguments of another number of rows.
bool run_adapted(const OperatorHandle &op, Stack *stack);

// From now on these operators are refused where they are given the senders of edges or the systems
// of rows, and neither a handler of ours nor an adapter says what they do with them. Those that are
// made of other operators alone are let through: these are seen one by one. Not collective.
void guard_operators(const std::vector<c10::OperatorName> &names);

// Torch's operators that take indices.
std::vector<c10::OperatorName> index_operators();

}    // namespace mlip_dd
