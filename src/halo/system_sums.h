// Sums over all ranks in the middle of a model: the only true collectives inside one. Ranks without
// atoms run no model; they take part by replaying the schedule that the others record.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "comm/communicator.h"
#include "halo/halo_exchange.h"
#include "halo/traffic.h"

namespace mlip_dd {

// One evaluation is begin(), any number of sum(), end() on the ranks that run the model, and
// replay() on those that do not. Between forward and backward, where other collectives may come,
// the former pause(), and the latter's replay() stops there until it is called again. The sequence
// of sums must be the same on every rank that runs the model, and from evaluation to evaluation: it
// is recorded in the first, where each sum is announced by one more collective, and checked later.
class SystemSums {
 public:
  // Keeps a reference to `communicator`.
  explicit SystemSums(Communicator &communicator) : communicator_(communicator) {}

  // After new rows: constants are summed anew in the next evaluation.
  void forget_constants() { fresh_ = true; }

  void begin() { position_ = 0; }

  // Collective. Sum over ranks of a tensor of one shape on all of them, floating (added in
  // float64), complex or integer, on any device; same bits on every rank. `constant`: it depends on
  // types alone, and the caller keeps the result while rows stay. No autograd. Throws Error where
  // the model departs from its schedule.
  at::Tensor sum(const at::Tensor &local, bool constant = false);

  // Collective in the first evaluation.
  void pause();
  void end();

  // Collective. Adds nothing to every sum from here to the next pause or the end.
  void replay();

  const Traffic &traffic() const { return traffic_; }

 private:
  struct Entry {
    std::int64_t numbers = 0;    // float64 or int64 values that travel
    bool integer = false;
    bool constant = false;
    bool pause = false;
    bool operator==(const Entry &) const = default;
  };
  // What the ranks that run the model are about to sum; an entry without numbers pauses or ends the
  // evaluation. `running` becomes false where no rank runs it.
  Entry announce(const Entry &entry, bool &running);
  void require_scheduled(const Entry &entry);

  Communicator &communicator_;
  std::vector<Entry> schedule_;
  bool recorded_ = false;
  bool fresh_ = true;
  std::size_t position_ = 0;
  Traffic traffic_;
};

// Differentiable sum over ranks; its adjoint is the same sum, under the loss convention that the
// energy differentiated is the sum over ranks of each rank's own. `replicated_consumer`: every rank
// differentiates one and the same quantity, made of the sum alike on all of them, so that each has
// the whole gradient already and the adjoint is the identity. `sums` must outlive the backward.
Chained system_sum(SystemSums &sums, const at::Tensor &local, const at::Tensor &token,
                   bool replicated_consumer = false);

}    // namespace mlip_dd
