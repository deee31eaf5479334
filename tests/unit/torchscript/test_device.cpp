// If this fails, ranks of a node with fewer GPUs crowd on one of them, or ask for one that is not
// there.
#include "base/error.h"
#include "catch.h"
#include "potentials/torchscript/device.h"

using mlip_dd::choose_device;
using mlip_dd::test::contains;

TEST_CASE("fewer GPUs than ranks are dealt out in turn")
{
  for (const char *name : {"auto", "cuda"}) {
    const int expected[] = {0, 1, 0, 1, 0};
    for (int rank = 0; rank < 5; ++rank) {
      const c10::Device device = choose_device(name, rank, 2);
      CHECK(device.is_cuda());
      CHECK(device.index() == expected[rank]);
    }
    CHECK(choose_device(name, 3, 8).index() == 3);
  }
  // A GPU that was named is everybody's.
  for (int rank = 0; rank < 3; ++rank) CHECK(choose_device("cuda:1", rank, 2).index() == 1);
}

TEST_CASE("a GPU that is not there is refused, unless any device will do")
{
  CHECK(choose_device("auto", 0, 0).is_cpu());
  CHECK(choose_device("cpu", 0, 2).is_cpu());
  CHECK_THROWS_WITH(choose_device("cuda", 0, 0), contains("no CUDA device"));
  CHECK_THROWS_WITH(choose_device("cuda:2", 0, 2), contains("cuda:2, with 2 on this node"));
  for (const char *name : {"cuda:", "cuda:-1", "cuda:1x", "gpu"})
    CHECK_THROWS_WITH(choose_device(name, 0, 2), contains("unknown device"));
}
