// Communicator over MPI. Works on a duplicate of the given communicator, so its messages never meet
// those of the host program.
#pragma once

#include <mpi.h>

#include "comm/communicator.h"

namespace mlip_dd {

// A failure of one rank ends the waits of the others, who would wait for its messages for ever.
class InterruptibleCommunicator : public Communicator {
 public:
  // After a failure here, not collective: the waits of other ranks, in all but broadcast, end with
  // an Error.
  virtual void give_up() = 0;
  // Whether a wait of this rank ended since another gave up.
  virtual bool interrupted() const = 0;
  // Collective, once all ranks know of the failure: forgets every message under way.
  virtual void start_afresh() = 0;
};

// Collective over `world`, which must outlive the result. Where that outlives MPI, it is destroyed
// in peace.
std::unique_ptr<InterruptibleCommunicator> make_mpi_communicator(MPI_Comm world);

}    // namespace mlip_dd
