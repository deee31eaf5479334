// How an error ends a LAMMPS run: one message, all ranks, non-zero exit.
#pragma once

#include <exception>
#include <functional>
#include <string>

namespace LAMMPS_NS {
class LAMMPS;
}

namespace mlip_dd {

class InterruptibleCommunicator;

// Collective. Runs `body`, which must not communicate. When it throws on any rank, all ranks end
// with the message of the lowest rank that failed.
void run_together(LAMMPS_NS::LAMMPS *lammps, const std::function<void()> &body);

// As run_together(), but returns that message, or nothing.
std::string problem_together(LAMMPS_NS::LAMMPS *lammps, const std::function<void()> &body);

// Collective. Runs `body`, which may communicate through `communicator` and in no other way. When
// it throws on any rank, the waits of the others end, and all end with the message of the lowest
// rank that failed of itself, with its step and rank. Afterwards the communicator can be used
// again.
void run_communicating(LAMMPS_NS::LAMMPS *lammps, InterruptibleCommunicator &communicator,
                       const std::function<void()> &body);

// Not collective. When `body` throws, its message is a warning: for calls through which LAMMPS's C
// interface lets no exception pass.
void run_with_warning(LAMMPS_NS::LAMMPS *lammps, const std::function<void()> &body);

}    // namespace mlip_dd
