// The lines of `log yes`: what a model sees, what it sends, and where the time goes.
#pragma once

#include <string>
#include <vector>

#include "pipeline/pipeline.h"

namespace mlip_dd {

// Collective; the same lines on every rank.
std::vector<std::string> describe_graphs(Communicator &communicator, const Pipeline &pipeline,
                                         double skin);
std::vector<std::string> describe_run(Communicator &communicator, const Pipeline &pipeline,
                                      std::int64_t evaluations);

}    // namespace mlip_dd
