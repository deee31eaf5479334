// If these fail, `mpi device` is ignored where it can't be had, or the log doesn't say why messages
// go through the host. What needs a GPU is in ../gpu.
#include <string>

#include "base/error.h"
#include "catch.h"
#include "comm/thread_communicator.h"
#include "halo/message_path.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

const c10::Device kCpu(c10::DeviceType::CPU), kGpu(c10::DeviceType::CUDA, 0);

// The choice on two virtual ranks, of which `devices` are used; nothing is sent.
MessageChoice choice_of(const std::string &asked, const c10::Device &first,
                        const c10::Device &second)
{
  MessageChoice choice;
  run_virtual_ranks(2, [&](Communicator &communicator) {
    const auto found =
        choose_message_path(asked, communicator.rank() == 0 ? first : second, communicator);
    if (communicator.rank() == 0) choice = found;
  });
  return choice;
}

}    // namespace

TEST_CASE("rows on the CPU leave from there, and nothing is said of it")
{
  for (const std::string asked : {"auto", "host"}) {
    require_message_path(asked, kCpu);
    const MessageChoice choice = choice_of(asked, kCpu, kCpu);
    CHECK(choice.path == MessagePath::host);
    CHECK(choice.reason.empty());
  }
  CHECK_THROWS_WITH(require_message_path("device", kCpu),
                    contains("a model on the CPU") && contains("mpi auto"));
  CHECK_THROWS_WITH(require_message_path("gpu", kCpu), contains("gpu") && contains("device"));
}

TEST_CASE("GPU rows take the host's memory where messages can't lie in theirs, with the reason")
{
  const MessageChoice automatic = choice_of("auto", kGpu, kGpu);
  CHECK(automatic.path == MessagePath::host);
  CHECK(automatic.reason == "ranks of one process");
  CHECK(choice_of("host", kGpu, kGpu).reason == "asked for");
  CHECK_THROWS_WITH(choice_of("device", kGpu, kGpu), contains("ranks of one process"));
}

TEST_CASE("one rank on the CPU decides for all")
{
  CHECK(choice_of("auto", kGpu, kCpu).path == MessagePath::host);
  CHECK(choice_of("auto", kGpu, kCpu).reason.empty());
  CHECK_THROWS_AS(choice_of("device", kGpu, kCpu), Error);
}
