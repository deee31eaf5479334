// How an error ends a LAMMPS run: one message, all ranks, non-zero exit.
#pragma once

#include <exception>
#include <functional>
#include <string>

namespace LAMMPS_NS {
class LAMMPS;
}

namespace mlip_dd {

// Collective. Runs `body`, which must not communicate. When it throws on any rank, all ranks end
// with the message of the lowest rank that failed.
void run_together(LAMMPS_NS::LAMMPS *lammps, const std::function<void()> &body);

// As run_together(), but returns that message, or nothing.
std::string problem_together(LAMMPS_NS::LAMMPS *lammps, const std::function<void()> &body);

// Runs `body`, which may communicate. When it throws here, the whole run is ended from this rank,
// since the others may be waiting for its messages.
void run_exposed(LAMMPS_NS::LAMMPS *lammps, const std::function<void()> &body);

}    // namespace mlip_dd
