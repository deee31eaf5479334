#include "intercept/boxed.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include "intercept/active.h"

namespace mlip_dd {

void call_below(const OperatorHandle &op, Stack *stack)
{
  const c10::impl::ExcludeDispatchKeyGuard guard(kInterceptionKey);
  op.callBoxed(stack);
}

bool is_in_place(const OperatorHandle &op)
{
  const auto &arguments = op.schema().arguments();
  return !arguments.empty() && arguments[0].alias_info() && arguments[0].alias_info()->isWrite();
}

}    // namespace mlip_dd
