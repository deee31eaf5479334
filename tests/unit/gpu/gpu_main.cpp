// The main function of the GPU's tests: without a GPU they are skipped, which is not the same as
// passed.
#if MLIP_DD_CATCH_MAJOR >= 3
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif
#include <torch/cuda.h>

#include <cstdio>

namespace {

constexpr int kSkipped = 77;    // SKIP_RETURN_CODE of ctest

}    // namespace

int main(int argc, char **argv)
{
  if (!torch::cuda::is_available()) {
    std::puts("SKIPPED: torch finds no CUDA device");
    return kSkipped;
  }
  return Catch::Session().run(argc, argv);
}
