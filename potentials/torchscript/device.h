// Which device a rank computes on.
#pragma once

#include <c10/core/Device.h>

#include <string>

namespace mlip_dd {

// `name`: auto (a GPU where torch finds one, else the CPU), cpu, cuda (the GPUs of a node are dealt
// out to its ranks in turn by `local_rank`), or cuda:N. Throws Error where no such device is
// usable.
c10::Device choose_device(const std::string &name, int local_rank);

// The same on a node with `count` GPUs.
c10::Device choose_device(const std::string &name, int local_rank, int count);

}    // namespace mlip_dd
