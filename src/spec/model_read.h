// Reading and writing the `model` object of a spec file.
#pragma once

#include "spec/json_place.h"
#include "spec/model_spec.h"

namespace mlip_dd {

// Reads the object, resolves its paths against the context's folder, fills in the family's names of
// inputs and outputs (the file's entries win) and checks everything that can be checked without
// opening the model file. Throws Error.
ModelSpec read_model(const JsonPlace &place);

// The object with paths and family defaults as they are in `model`; reading it gives `model` again.
nlohmann::ordered_json to_json(const ModelSpec &model);

// Legal values of "units" and "dtype".
std::span<const std::string_view> unit_names();
std::span<const std::string_view> dtype_names();

}    // namespace mlip_dd
