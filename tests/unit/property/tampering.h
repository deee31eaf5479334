// Communicators that lose, cut or multiply what passes between ranks: faults that the property
// suite has to notice.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "comm/communicator.h"

namespace mlip_dd::test {

// Which of a rank's exchanges are meant, counted from 0 over a whole run.
using Chosen = std::function<bool(std::int64_t exchange)>;

// Counts the exchanges of the rank with the most; `most` outlives the communicators.
std::unique_ptr<Communicator> counting(Communicator &communicator, std::int64_t &most);

// What chosen exchanges bring is zero.
std::unique_ptr<Communicator> losing(Communicator &communicator, Chosen chosen);

// The last row, of `row_bytes`, of each message of chosen exchanges is zero.
std::unique_ptr<Communicator> cutting(Communicator &communicator, Chosen chosen,
                                      std::size_t row_bytes);

// Sums are the number of ranks too large.
std::unique_ptr<Communicator> multiplying_sums(Communicator &communicator);

// Numbers that chosen exchanges bring are multiplied by the number of ranks.
std::unique_ptr<Communicator> multiplying(Communicator &communicator, Chosen chosen);

// The rank leaves out its sums where it is `idle`.
std::unique_ptr<Communicator> skipping_sums(Communicator &communicator, bool idle);

}    // namespace mlip_dd::test
