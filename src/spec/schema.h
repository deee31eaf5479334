// The JSON Schema (draft 7) of spec files, built from the tables that the reader uses, for editors.
#pragma once

#include <nlohmann/json.hpp>

namespace mlip_dd {

// Accepts what the strict reader accepts, but for rules that a schema can't state: one output in
// both sets, per-node outputs that are summed, one name for two roles, unused or unknown models of
// a pipeline, circles, and files that don't exist.
nlohmann::ordered_json spec_schema();

}    // namespace mlip_dd
