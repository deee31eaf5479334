// JSON text to a tree that keeps the order of keys, with errors of ours that name line and column.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace mlip_dd {

// Deeper nesting is refused: no spec needs it, and walking a tree uses the stack.
inline constexpr int kDeepestNesting = 64;

// Parses one JSON text (UTF-8, no byte-order mark, no comments). `path` is for messages only. Of
// keys that occur twice in one object the last wins; each is described in `warnings` if not null.
// Throws Error for anything else that is not JSON, nesting deeper than kDeepestNesting, and numbers
// too large for a double. Time and memory are linear in the text.
nlohmann::ordered_json parse_json_text(const std::string &text, const std::string &path,
                                       std::vector<std::string> *warnings = nullptr);

// The whole file as text. Throws Error for a missing or unreadable file, a folder, an empty file,
// and a file larger than kLargestSpecFile.
std::string read_text_file(const std::string &path);

// A model file given where its spec belongs is told by its size.
inline constexpr std::size_t kLargestSpecFile = std::size_t{16} << 20;

}    // namespace mlip_dd
