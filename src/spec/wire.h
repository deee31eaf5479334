// The version-2 wire format of MLIPSpec: the object that other programs write and read.
#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/json_place.h"
#include "spec/mlip_spec.h"

namespace mlip_dd {

// Top-level keys of the version-2 object, in the order in which they are written.
std::span<const std::string_view> wire_keys();

// Reads the version-2 keys of an object. Keys in `others` may stand beside them and are left alone;
// any further key is objected to. Throws Error.
MLIPSpec read_wire_object(const JsonPlace &object, std::span<const std::string_view> others = {});

// Reads a text that is one version-2 object. `path` is for messages. Warnings are appended to
// `warnings` if not null. Throws Error.
MLIPSpec read_wire_text(const std::string &text, const std::string &path,
                        Reading reading = Reading::Strict,
                        std::vector<std::string> *warnings = nullptr);

// The object in canonical form: every key, fixed order, sets and kinds sorted, `shard_fields` only
// when they are not the default ones.
nlohmann::ordered_json to_wire(const MLIPSpec &spec);
nlohmann::ordered_json to_wire(const StoragePolicy &policy);
nlohmann::ordered_json to_wire(const OpAdapter &adapter);
nlohmann::ordered_json to_wire(const HelperAdapter &helper);

// The canonical text: two spaces of indent, ASCII, no newline at the end.
std::string write_wire_text(const MLIPSpec &spec);

}    // namespace mlip_dd
