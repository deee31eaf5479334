// Virtual ranks in one process: each rank is a thread. For tests and for validating a decomposition
// without mpirun.
#pragma once

#include <functional>

#include "comm/communicator.h"

namespace mlip_dd {

// Runs `body` once per rank, each in a thread of its own, and returns when all have ended. When a
// rank throws, the others' waits end with an Error and the first exception (by time) is rethrown
// here. A wait for a rank that has ended is an Error too.
void run_virtual_ranks(int size, const std::function<void(Communicator &)> &body);

}    // namespace mlip_dd
