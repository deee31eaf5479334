// Shared by the interception's state and its operator handlers; not for others.
#pragma once

#include <c10/core/DispatchKey.h>

namespace mlip_dd {

class Interception;

// A mode key above autograd that torch itself leaves unused.
inline constexpr c10::DispatchKey kInterceptionKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

// The interception of this thread's running forward, or nullptr.
Interception *active_interception();

// Registers the handlers of operators.cpp, once per process.
void install_operator_handlers();

}    // namespace mlip_dd
