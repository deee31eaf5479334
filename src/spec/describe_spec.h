// What a spec means, in words and as data: rows, exchanges, outputs, forces, cutoffs, warnings.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "spec/spec_file.h"

namespace mlip_dd {

// Several lines for people, with a newline at the end.
std::string describe_in_words(const SpecFile &file);

// The same for machines: {path, warnings, models: [{name, policy, rows, exchanges, outputs, forces,
// stress, cutoff, ...}], spec: the canonical file}.
nlohmann::ordered_json describe_as_json(const SpecFile &file);

}    // namespace mlip_dd
