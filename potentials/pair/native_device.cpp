#include "potentials/pair/native_device.h"

#include "potentials/torchscript/device.h"

namespace mlip_dd {

NativeDevice native_device(const PotentialOptions &options, [[maybe_unused]] int local_rank)
{
  NativeDevice device;
  device.lanes = options.lanes;
  if (options.messages == "device")
    device.note = " (messages between GPUs were asked for; this potential's leave from the CPU)";
  if (options.device == "cpu" || options.device == "auto") return device;
#ifdef MLIP_DD_WITH_CUDA
  device.device = choose_device(options.device, local_rank);
  device.lanes = true;
  device.gpu = device.device.index();
  device.used = device.device.str();
#else
  device.note += " (device " + options.device + " was asked for; this build has no kernels for it)";
#endif
  return device;
}

}    // namespace mlip_dd
