// Adds the seconds of its own lifetime to a sum.
#pragma once

#include <chrono>

namespace mlip_dd {

class Timer {
 public:
  explicit Timer(double &total) : total_(total), start_(std::chrono::steady_clock::now()) {}
  ~Timer()
  {
    total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Timer(const Timer &) = delete;
  Timer &operator=(const Timer &) = delete;

 private:
  double &total_;
  std::chrono::steady_clock::time_point start_;
};

}    // namespace mlip_dd
