// Reading and writing the `pipeline` object of a spec file.
#pragma once

#include "spec/json_place.h"
#include "spec/pipeline_spec.h"

namespace mlip_dd {

// Reads the object, the spec files that it names included. Checks that every model stands in one
// step, that wires name models of their group, and that they form no cycle. Throws Error.
PipelineSpec read_pipeline(const JsonPlace &place);

// The object with every model written out in full.
nlohmann::ordered_json to_json(const PipelineSpec &pipeline);

}    // namespace mlip_dd
