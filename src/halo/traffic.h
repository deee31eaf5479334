// What has travelled between ranks, counted by every exchange.
#pragma once

#include <cstdint>

namespace mlip_dd {

// On one rank, since the last reset.
struct Traffic {
  std::int64_t gathers = 0;
  std::int64_t scatters = 0;
  std::int64_t messages_sent = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t system_sums = 0;    // over all ranks, in the middle of a model
  double seconds = 0.0;            // waiting included
  double packing = 0.0;            // of these: putting rows together and adding them up

  Traffic &operator+=(const Traffic &other)
  {
    gathers += other.gathers;
    scatters += other.scatters;
    messages_sent += other.messages_sent;
    bytes_sent += other.bytes_sent;
    system_sums += other.system_sums;
    seconds += other.seconds;
    packing += other.packing;
    return *this;
  }
};

}    // namespace mlip_dd
