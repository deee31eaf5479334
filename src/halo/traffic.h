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
  double seconds = 0.0;    // waiting included
};

}    // namespace mlip_dd
