// Where potentials without tensors compute, for the log.
#pragma once

#include <string>

namespace mlip_dd {

struct NativeDevice {
  std::string used = "cpu";
  std::string note;    // what the user asked for and did not get; empty when nothing
};

// These potentials have kernels for the CPU alone; another device falls back to it.
inline NativeDevice native_device(const std::string &asked)
{
  NativeDevice device;
  if (asked != "cpu" && asked != "auto")
    device.note = " (device " + asked + " was asked for; this potential computes on the CPU)";
  return device;
}

}    // namespace mlip_dd
