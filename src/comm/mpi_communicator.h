// Communicator over MPI. Works on a duplicate of the given communicator, so its messages never meet
// those of the host program.
#pragma once

#include <mpi.h>

#include "comm/communicator.h"

namespace mlip_dd {

// Collective over `world`. The result must be destroyed before MPI_Finalize, on all ranks.
std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm world);

}    // namespace mlip_dd
