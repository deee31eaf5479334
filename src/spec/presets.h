// The named specs that a file may use in place of an object: one per way to distribute a model.
#pragma once

#include <span>
#include <string_view>

#include "spec/mlip_spec.h"

namespace mlip_dd {

struct Preset {
  std::string_view name;
  std::string_view purpose;    // one line for listings
};

std::span<const Preset> presets();

// Empty when there is no such preset.
std::optional<MLIPSpec> find_preset(std::string_view name);

// For messages and spelling hints.
std::span<const std::string_view> preset_names();

}    // namespace mlip_dd
