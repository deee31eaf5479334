// Sets the tensor library's number of threads for the time of an evaluation.
#pragma once

#include <ATen/Parallel.h>

namespace mlip_dd {

// torch's thread count is one per process: set for the evaluation, then put back for the host
// program.
class ThreadCountGuard {
 public:
  explicit ThreadCountGuard(int threads) : before_(at::get_num_threads())
  {
    if (threads != before_) at::set_num_threads(threads);
  }
  ~ThreadCountGuard()
  {
    if (at::get_num_threads() != before_) at::set_num_threads(before_);
  }
  ThreadCountGuard(const ThreadCountGuard &) = delete;
  ThreadCountGuard &operator=(const ThreadCountGuard &) = delete;

 private:
  int before_;
};

}    // namespace mlip_dd
