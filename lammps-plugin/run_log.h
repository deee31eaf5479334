// The lines of the log: what a model sees, what it sends, and where the time goes.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/pipeline.h"

namespace mlip_dd {

// Of each step of the pipeline so far.
std::vector<Traffic> traffic_of(const Pipeline &pipeline);

// Collective; the same lines on every rank. After an evaluation; `before` is the traffic before it,
// and `skin` is in Angstrom.
std::vector<std::string> describe_graphs(Communicator &communicator, const Pipeline &pipeline,
                                         double skin, const std::vector<Traffic> &before);
std::vector<std::string> describe_run(Communicator &communicator, const Pipeline &pipeline,
                                      std::int64_t evaluations);

// Collective; the same lines on every rank: a title, and each of this rank's counts under its name.
std::vector<std::string> describe_counts(
    Communicator &communicator, const std::string &title,
    const std::vector<std::pair<std::string, std::int64_t>> &counts);

}    // namespace mlip_dd
