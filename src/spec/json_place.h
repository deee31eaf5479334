// A value inside a JSON tree together with where it stands, so that every refusal names file, JSON
// pointer, value, legal values and cure.
#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/quote.h"
#include "spec/names.h"

namespace mlip_dd {

// Strict refuses what has no meaning; Lenient, for files of others, warns and takes what the
// original program would have made of it.
enum class Reading { Strict, Lenient };

// What all places of one file share.
struct ReadContext {
  std::string path;                // for messages
  std::filesystem::path folder;    // relative paths start here
  Reading reading = Reading::Strict;
  std::vector<std::string> *warnings = nullptr;    // may be null: warnings are dropped
  std::vector<std::string> open_files;    // files being read, outermost first: finds cycles
};

class JsonPlace {
 public:
  using Json = nlohmann::ordered_json;

  JsonPlace(const Json &value, std::string pointer, const ReadContext &context)
      : value_(&value), pointer_(std::move(pointer)), context_(&context)
  {}

  const Json &value() const { return *value_; }
  const ReadContext &context() const { return *context_; }
  bool lenient() const { return context_->reading == Reading::Lenient; }

  bool has(std::string_view key) const;                         // the value must be an object
  JsonPlace at(std::string_view key) const;                     // refuses when the key is missing
  std::optional<JsonPlace> find(std::string_view key) const;    // empty when the key is missing
  std::vector<std::pair<std::string, JsonPlace>> members() const;
  std::vector<JsonPlace> elements() const;

  [[noreturn]] void refuse(const std::string &cause, const std::string &cure) const;
  void warn(const std::string &cause, const std::string &cure) const;
  // Refuses when reading strictly, warns when leniently.
  void object_to(const std::string &cause, const std::string &cure) const;

  void expect_object(const std::string &what) const;
  void expect_array(const std::string &what) const;
  // Objects to each key outside `known`, naming the nearest known one.
  void expect_keys(std::span<const std::string_view> known) const;

  std::string text(const std::string &what) const;    // a JSON string, always
  std::string non_empty_text(const std::string &what) const;
  std::string name(const std::string &what) const;    // lenient: numbers and such as text
  std::optional<std::string> optional_name(const std::string &what) const;    // string or null
  bool truth(const std::string &what) const;    // lenient: Python's truth value
  double finite_number(const std::string &what) const;
  int whole_number(const std::string &what, int smallest) const;

  // A word of the enumeration's table; anything else is refused with the nearest one.
  template <class Enum>
  Enum word(const std::string &what) const
  {
    if (value_->is_string())
      if (const auto found = from_name<Enum>(value_->get_ref<const std::string &>())) return *found;
    refuse_word(what, words_of<Enum>());
  }

  // Refuses the value as none of the words.
  [[noreturn]] void refuse_word(const std::string &what,
                                std::span<const std::string_view> words) const;

 private:
  std::string where() const;

  const Json *value_;
  std::string pointer_;
  const ReadContext *context_;
};

// null, false, 0, "", [] and {}: what Python takes for nothing.
bool is_falsy(const nlohmann::ordered_json &value);

// The value as one line of JSON, shortened, for messages.
std::string shown(const nlohmann::ordered_json &value);

// "Did you mean "x"? " when a candidate is near, else empty.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);

}    // namespace mlip_dd
