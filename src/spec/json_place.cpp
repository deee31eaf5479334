#include "spec/json_place.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/nearest.h"

namespace mlip_dd {

namespace {

constexpr std::size_t kLongestShown = 80;
constexpr std::size_t kLongestCompared = 64;    // keeps the search for a near name cheap

std::string escaped(std::string_view key)
{
  std::string text;
  for (char letter : key) {
    if (letter == '~')
      text += "~0";
    else if (letter == '/')
      text += "~1";
    else
      text += letter;
  }
  return text;
}

// Keys that are no misspelling but belong to another form of the spec.
std::string_view advice_for(std::string_view key)
{
  static constexpr std::pair<std::string_view, std::string_view> kAdvice[] = {
      {"outputs",
       "A file says this with \"output_kinds\", \"owned_only_outputs\" and \"all_reduce_outputs\""},
      {"adapters",
       "A file says this with \"custom_ops\" (operators) and \"third_party_helpers\" (Python "
       "objects)"},
      {"graph_padder", "A padder has no form in a file; remove it"},
      {"distribution", "A file says this with \"core\""},
  };
  for (const auto &[word, advice] : kAdvice)
    if (word == key) return advice;
  return {};
}

}    // namespace

bool is_falsy(const nlohmann::ordered_json &value)
{
  switch (value.type()) {
    case nlohmann::json::value_t::null:
      return true;
    case nlohmann::json::value_t::boolean:
      return !value.get<bool>();
    case nlohmann::json::value_t::number_integer:
    case nlohmann::json::value_t::number_unsigned:
    case nlohmann::json::value_t::number_float:
      return value.get<double>() == 0.0;
    case nlohmann::json::value_t::string:
      return value.get_ref<const std::string &>().empty();
    default:
      return value.empty();
  }
}

std::string shown(const nlohmann::ordered_json &value)
{
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kLongestShown) text = text.substr(0, kLongestShown) + "...";
  return text;
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates)
{
  if (name.size() > kLongestCompared) return {};
  const std::string near = nearest_name(name, candidates);
  return near.empty() ? std::string{} : "Did you mean " + in_quotes(near) + "? ";
}

bool JsonPlace::has(std::string_view key) const
{
  return value_->is_object() && value_->find(key) != value_->end();
}

std::optional<JsonPlace> JsonPlace::find(std::string_view key) const
{
  if (!value_->is_object()) return std::nullopt;
  const auto found = value_->find(key);
  if (found == value_->end()) return std::nullopt;
  return JsonPlace(*found, pointer_ + "/" + escaped(key), *context_);
}

JsonPlace JsonPlace::at(std::string_view key) const
{
  if (const auto found = find(key)) return *found;
  refuse("The key " + in_quotes(key) + " is missing", "Add it");
}

std::vector<std::pair<std::string, JsonPlace>> JsonPlace::members() const
{
  std::vector<std::pair<std::string, JsonPlace>> places;
  for (const auto &[key, value] : value_->items())
    places.emplace_back(key, JsonPlace(value, pointer_ + "/" + escaped(key), *context_));
  return places;
}

std::vector<JsonPlace> JsonPlace::elements() const
{
  std::vector<JsonPlace> places;
  for (std::size_t i = 0; i < value_->size(); ++i)
    places.emplace_back((*value_)[i], pointer_ + "/" + std::to_string(i), *context_);
  return places;
}

std::string JsonPlace::where() const
{
  return context_->path + " at " + (pointer_.empty() ? "the top level" : pointer_);
}

void JsonPlace::refuse(const std::string &cause, const std::string &cure) const
{
  throw Error({cause, shown(*value_), where(), cure});
}

void JsonPlace::warn(const std::string &cause, const std::string &cure) const
{
  if (context_->warnings)
    context_->warnings->push_back(describe({cause, shown(*value_), where(), cure}));
}

void JsonPlace::object_to(const std::string &cause, const std::string &cure) const
{
  if (lenient())
    warn(cause, cure);
  else
    refuse(cause, cure);
}

void JsonPlace::expect_object(const std::string &what) const
{
  if (!value_->is_object()) refuse(what + " must be an object", "Write {...}");
}

void JsonPlace::expect_array(const std::string &what) const
{
  if (!value_->is_array()) refuse(what + " must be an array", "Write [...]");
}

void JsonPlace::expect_keys(std::span<const std::string_view> known) const
{
  for (const auto &[key, place] : members()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string_view advice = advice_for(key);
    const std::string cure = !advice.empty()
                                 ? std::string(advice)
                                 : did_you_mean(key, known) + "Known here: " + list_names(known);
    const std::string name =
        key.size() > kLongestShown ? key.substr(0, kLongestShown) + "..." : key;
    place.object_to("The key " + in_quotes(name) + " is not known here", cure);
  }
}

std::string JsonPlace::text(const std::string &what) const
{
  if (!value_->is_string()) refuse(what + " must be a string", "Put it in double quotes");
  return value_->get<std::string>();
}

std::string JsonPlace::non_empty_text(const std::string &what) const
{
  std::string result = text(what);
  if (result.empty()) refuse(what + " must not be empty", "Give it, or remove the key");
  return result;
}

std::string JsonPlace::name(const std::string &what) const
{
  if (value_->is_string()) return value_->get<std::string>();
  if (!lenient() || value_->is_structured())
    refuse(what + " must be a string", "Put it in double quotes");
  warn(what + " must be a string; its text is taken", "Put it in double quotes");
  return value_->dump();
}

std::optional<std::string> JsonPlace::optional_name(const std::string &what) const
{
  if (value_->is_null()) return std::nullopt;
  return name(what);
}

bool JsonPlace::truth(const std::string &what) const
{
  if (value_->is_boolean()) return value_->get<bool>();
  const bool truth = !is_falsy(*value_);
  object_to(what + " must be true or false",
            std::string("Write true or false without quotes") +
                (lenient() ? (truth ? "; taken as true" : "; taken as false") : ""));
  return truth;
}

double JsonPlace::finite_number(const std::string &what) const
{
  if (!value_->is_number()) refuse(what + " must be a number", "Write a number without quotes");
  const double number = value_->get<double>();
  if (!std::isfinite(number)) refuse(what + " must be finite", "Write a finite number");
  return number;
}

int JsonPlace::whole_number(const std::string &what, int smallest) const
{
  const std::string cause =
      what + " must be a whole number, " + std::to_string(smallest) + " or more";
  const double number = value_->is_number() ? value_->get<double>() : std::nan("");
  if (!(number >= smallest && number <= std::numeric_limits<int>::max()) ||
      number != std::floor(number))
    refuse(cause, "Write such a number without quotes");
  return static_cast<int>(number);
}

void JsonPlace::refuse_word(const std::string &what, std::span<const std::string_view> words) const
{
  std::string hint;
  if (value_->is_string()) hint = did_you_mean(value_->get_ref<const std::string &>(), words);
  refuse(what + " is not known", hint + "Legal: " + list_names(words));
}

}    // namespace mlip_dd
