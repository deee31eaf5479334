// The lines of `log yes`: what a model sees, what it sends, and where the time goes.
#pragma once

#include <string>
#include <vector>

#include "pipeline/model_runner.h"

namespace mlip_dd {

// Collective; the same lines on every rank.
std::vector<std::string> describe_graph(Communicator &communicator, const ModelRunner &runner,
                                        double skin);
std::vector<std::string> describe_run(Communicator &communicator, const ModelRunner &runner,
                                      std::int64_t evaluations);

}    // namespace mlip_dd
