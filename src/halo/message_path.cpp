#include "halo/message_path.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <vector>

#include "base/error.h"

namespace mlip_dd {

namespace {

// Short enough to be sent at once, and long enough that MPI asks the receiver first.
constexpr std::array<std::int64_t, 2> kTrialNumbers{64, 1 << 18};

// Each rank sends numbers of its own to the next rank, from GPU memory to GPU memory. An MPI that
// can't may also crash; hence auto tries only where MPI says that it can.
bool arrives_unchanged(const c10::Device &device, Communicator &communicator)
{
  const int size = communicator.size(), rank = communicator.rank();
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const auto options = at::TensorOptions().dtype(at::kLong).device(device);
  const auto numbers_of = [&](std::int64_t owner, std::int64_t count) {
    return at::arange(owner * count, (owner + 1) * count, options);
  };
  bool same = true;
  for (const std::int64_t count : kTrialNumbers) {
    const at::Tensor sent = numbers_of(rank, count);
    const at::Tensor received = at::zeros({count}, options);
    // Reading a number waits until all that was enqueued before is done, on both tensors.
    (void)(sent[0].item<std::int64_t>() + received[0].item<std::int64_t>());
    const auto bytes = static_cast<std::size_t>(count) * sizeof(std::int64_t);
    const std::vector<Message> sends{{next, sent.data_ptr(), bytes}};
    const std::vector<Message> receives{{previous, received.data_ptr(), bytes}};
    communicator.exchange(sends, receives);
    same = same && at::equal(received, numbers_of(previous, count));
  }
  return same;
}

bool on_any_rank(bool here, Communicator &communicator)
{
  std::array<std::int64_t, 1> flag{here ? 1 : 0};
  communicator.max(flag);
  return flag[0] != 0;
}

[[noreturn]] void refuse(const std::string &found)
{
  throw Error({"`mpi device` needs rows in GPU memory and an MPI that reads them there", found,
               "pair_style mlip/dd", "Use `mpi auto` or `mpi host`"});
}

}    // namespace

std::string describe(const MessageChoice &choice)
{
  if (choice.reason.empty()) return {};
  return std::string("messages: rows leave from ") +
         (choice.path == MessagePath::device ? "GPU" : "host") + " memory; " + choice.reason;
}

void require_message_path(const std::string &asked, const c10::Device &device)
{
  if (asked != "auto" && asked != "host" && asked != "device")
    throw Error(
        {"unknown way of messages", asked, "pair_style mlip/dd", "Use auto, host or device"});
  if (asked == "device" && !device.is_cuda()) refuse("a model on the CPU");
}

MessageChoice choose_message_path(const std::string &asked, const c10::Device &device,
                                  Communicator &communicator)
{
  const bool must = asked == "device";
  if (on_any_rank(!device.is_cuda(), communicator)) {
    if (must) refuse("a model on the CPU");
    return {};
  }
  if (asked == "host") return {MessagePath::host, "asked for"};
  if (communicator.size() == 1) return {MessagePath::host, "one rank sends nothing"};
  const GpuMessages known = communicator.gpu_messages();
  const bool claimed = known.support == GpuSupport::yes;
  if (on_any_rank(must ? known.support == GpuSupport::no : !claimed, communicator)) {
    if (must) refuse(known.reason);
    return {MessagePath::host, known.reason};
  }
  if (on_any_rank(!arrives_unchanged(device, communicator), communicator)) {
    if (must) refuse("numbers that changed on the way; " + known.reason);
    return {MessagePath::host, known.reason + ", but numbers changed on the way"};
  }
  return {MessagePath::device, known.reason + ", and a trial arrived unchanged"};
}

}    // namespace mlip_dd
