// Where rows of a GPU lie while they travel between ranks.
#pragma once

#include <c10/core/Device.h>

#include <string>

#include "comm/communicator.h"

namespace mlip_dd {

enum class MessagePath {
  host,     // through buffers of the CPU
  device    // MPI reads and writes GPU memory itself
};

struct MessageChoice {
  MessagePath path = MessagePath::host;
  std::string reason;    // for the log; empty where rows lie on the CPU
};

// A line for the log; empty where the reason is.
std::string describe(const MessageChoice &choice);

// Not collective. Throws Error for a word that is none of auto, host and device, and for device
// where rows lie on the CPU.
void require_message_path(const std::string &asked, const c10::Device &device);

// Collective; the same choice on every rank. `asked`: host; device; auto, which is device where the
// communicator says that it takes GPU memory and a small exchange arrives unchanged. Throws Error
// on all ranks where device is asked for and can't be had.
MessageChoice choose_message_path(const std::string &asked, const c10::Device &device,
                                  Communicator &communicator);

}    // namespace mlip_dd
