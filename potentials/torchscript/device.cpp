#include "potentials/torchscript/device.h"

#include <torch/cuda.h>

#include <algorithm>

#include "base/error.h"

namespace mlip_dd {

namespace {

c10::Device cuda_device(int index)
{
  return {c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(index)};
}

}    // namespace

c10::Device choose_device(const std::string &name, int local_rank)
{
  if (name == "cpu") return c10::Device(c10::DeviceType::CPU);
  return choose_device(
      name, local_rank,
      torch::cuda::is_available() ? static_cast<int>(torch::cuda::device_count()) : 0);
}

c10::Device choose_device(const std::string &name, int local_rank, int count)
{
  if (name == "cpu") return c10::Device(c10::DeviceType::CPU);
  if (name == "auto" && count == 0) return c10::Device(c10::DeviceType::CPU);
  if (count == 0)
    throw Error({"no CUDA device is usable", "device " + name, "pair_style mlip/dd",
                 "Use `device cpu` or `device auto`, or check the driver with nvidia-smi"});
  if (name == "auto" || name == "cuda") return cuda_device(local_rank % count);
  const std::string digits = name.rfind("cuda:", 0) == 0 ? name.substr(5) : "";
  if (digits.empty() || digits.size() > 4 ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    throw Error({"unknown device", name, "pair_style mlip/dd", "Use auto, cpu, cuda or cuda:N"});
  const int index = std::stoi(digits);
  if (index >= count)
    throw Error({"there is no such CUDA device",
                 name + ", with " + std::to_string(count) + " on this node", "pair_style mlip/dd",
                 "Use `device cuda` to deal the node's GPUs out to its ranks"});
  return cuda_device(index);
}

}    // namespace mlip_dd
