// Where the version-2 part of an object comes from: its own keys, or "spec": a preset, a file, or
// an object in their place.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "spec/json_place.h"
#include "spec/mlip_spec.h"

namespace mlip_dd {

// Editors find their JSON Schema by this key; it has no other meaning.
inline constexpr std::string_view kSchemaKey = "$schema";

// Reads the policy of an object that may also hold the keys `others` ("spec" among them). Throws
// Error when there is none, and when there are two.
MLIPSpec read_policy_source(const JsonPlace &object, std::span<const std::string_view> others);

// The same text for every spelling of one file's path, for finding cycles.
std::string file_identity(const std::string &path);

// The path of a file named in a spec file, relative to that file. Throws Error when opening it
// would read a file that is being read already.
std::string enter_file(const JsonPlace &place, const std::string &name, ReadContext &inner);

}    // namespace mlip_dd
