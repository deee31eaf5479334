// The pairs that a potential's kernels go over in each step, of a graph of the host or of a device.
#pragma once

#include "pipeline/potential.h"
#include "potentials/pair/device_pairs.h"
#include "potentials/pair/native_device.h"

namespace mlip_dd {

// Lays candidates out at the first step after forget(), and takes the positions of every one.
// Where kernels of the CPU read them, nothing is copied: they stay in PairRows, or where the host
// program's own kernels have put them.
class PairList {
 public:
  explicit PairList(const NativeDevice &device) : device_(device.device), lanes_(device.lanes) {}

  // At a reneighbouring.
  void forget() { current_ = false; }

  // With `n_types` as set_rows(). A graph with a DeviceGraph has it on the potential's device.
  // Addresses there, valid until the next call.
  PairView take(const AtomGraph &graph, const HostStep &step, int n_types);

 private:
  at::Device device_;
  bool lanes_;
  PairRows rows_;    // of a graph of the host
  DevicePairs pairs_;
  bool current_ = false;
};

}    // namespace mlip_dd
