#include "potentials/pair/native_device.h"

#include "potentials/torchscript/device.h"

namespace mlip_dd {

NativeDevice native_device(const PotentialOptions &options, [[maybe_unused]] int local_rank,
                           bool sends_from_gpu)
{
  NativeDevice device;
  device.lanes = options.lanes;
  const bool on_cpu = options.device == "cpu" || options.device == "auto";
#ifdef MLIP_DD_WITH_CUDA
  if (!on_cpu) {
    device.device = choose_device(options.device, local_rank);
    device.lanes = true;
    device.gpu = device.device.index();
    device.used = device.device.str();
  }
#else
  if (!on_cpu)
    device.note =
        " (device " + options.device + " was asked for; this build has no kernels for it)";
#endif
  if (options.messages == "device" && (device.device.is_cpu() || !sends_from_gpu))
    device.note += " (messages between GPUs were asked for; this potential's leave from the CPU)";
  return device;
}

}    // namespace mlip_dd
