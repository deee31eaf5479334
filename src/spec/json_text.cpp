#include "spec/json_text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/quote.h"

namespace mlip_dd {

namespace {

using Json = nlohmann::ordered_json;

// "line 3, column 7" of a byte offset; columns count bytes from 1.
std::string line_and_column(const std::string &text, std::size_t offset)
{
  offset = std::min(offset, text.size());
  const auto begin = text.begin();
  const auto at = begin + static_cast<std::ptrdiff_t>(offset);
  const auto line = 1 + std::count(begin, at, '\n');
  const std::size_t last_break = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
  const std::size_t column = last_break == std::string::npos ? offset + 1 : offset - last_break;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

// The parser's own words without its number, place and exception class.
std::string parser_words(const std::string &what)
{
  std::string_view words = what;
  if (const auto bracket = words.find("] "); words.starts_with('[') && bracket != words.npos)
    words.remove_prefix(bracket + 2);
  if (const auto colon = words.find(": "); words.starts_with("parse error") && colon != words.npos)
    words.remove_prefix(colon + 2);
  return std::string(words);
}

// Builds the tree from the parser's events. Children are appended to their object without looking
// through it, since an ordered object finds a key in linear time; repeated keys are found by hash.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(const std::string &text, const std::string &path, std::vector<std::string> *warnings)
      : text_(text), path_(path), warnings_(warnings)
  {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t &) override { return add(value); }
  bool string(string_t &value) override { return add(std::move(value)); }
  bool binary(binary_t &value) override { return add(std::move(value)); }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t &name) override
  {
    Level &level = levels_.back();
    auto &object = level.container->get_ref<Json::object_t &>();
    const auto [place, fresh] = level.index.emplace(name, object.size());
    level.child = place->second;
    if (fresh)
      object.emplace_back(std::move(name), nullptr);
    else if (warnings_)
      warnings_->push_back("The key " + in_quotes(name) + " stands twice in one object of " +
                           path_ + "; the last one counts. Remove the other.");
    return true;
  }

  bool parse_error(std::size_t position, const std::string &,
                   const nlohmann::json::exception &error) override
  {
    // The parser counts the byte that it stumbled over.
    const std::string place = line_and_column(text_, position == 0 ? 0 : position - 1);
    throw Error(
        {"The file is not valid JSON: " + parser_words(error.what()), "", path_ + ", " + place,
         "Correct the text there (JSON has no comments, trailing commas, NaN or infinity)"});
  }

 private:
  struct Level {
    Json *container;
    std::unordered_map<std::string, std::size_t> index;
    std::size_t child = 0;
  };

  template <class Value>
  Json *place(Value &&value)
  {
    if (levels_.empty()) {
      root_ = std::forward<Value>(value);
      return &root_;
    }
    Level &level = levels_.back();
    if (level.container->is_array()) {
      level.container->push_back(std::forward<Value>(value));
      return &level.container->back();
    }
    auto &object = level.container->get_ref<Json::object_t &>();
    Json &child = (object.begin() + static_cast<std::ptrdiff_t>(level.child))->second;
    child = std::forward<Value>(value);
    return &child;
  }

  template <class Value>
  bool add(Value &&value)
  {
    place(Json(std::forward<Value>(value)));
    return true;
  }

  bool open(Json container)
  {
    if (levels_.size() >= static_cast<std::size_t>(kDeepestNesting))
      throw Error(
          {"Objects and arrays may be nested " + std::to_string(kDeepestNesting) + " deep at most",
           "deeper nesting", path_, "Flatten the file"});
    levels_.push_back({place(std::move(container)), {}, 0});
    return true;
  }

  bool close()
  {
    levels_.pop_back();
    return true;
  }

  const std::string &text_;
  const std::string &path_;
  std::vector<std::string> *warnings_;
  Json root_;
  std::vector<Level> levels_;
};

}    // namespace

Json parse_json_text(const std::string &text, const std::string &path,
                     std::vector<std::string> *warnings)
{
  if (text.starts_with("\xEF\xBB\xBF"))
    throw Error({"The file starts with a byte-order mark, which JSON does not allow", "EF BB BF",
                 path + ", line 1, column 1", "Save it as UTF-8 without one"});
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw Error({"The file is empty", "", path + ", line 1, column 1",
                 "Write a spec there: \"mlip-dd presets\" prints ready ones"});
  TreeBuilder builder(text, path, warnings);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string read_text_file(const std::string &path)
{
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    throw Error({"The spec file does not exist", path, "",
                 "Give the path of a spec file (\"mlip-dd presets\" prints ready ones)"});
  if (fs::is_directory(status))
    throw Error({"A spec file was expected", "a folder, " + path, "",
                 "Name the file in it, such as " + (fs::path(path) / "spec.json").string()});
  // A pipe or device might never end, and ranks would each take a part of it.
  if (!fs::is_regular_file(status))
    throw Error(
        {"A spec file was expected", "no regular file, " + path, "", "Name a file on disk"});
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw Error(
        {"The spec file can't be read", std::strerror(errno), path, "Check its permissions"});
  std::string text;
  std::vector<char> block(std::size_t{1} << 16);
  while (stream.read(block.data(), static_cast<std::streamsize>(block.size())) ||
         stream.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kLargestSpecFile)
      throw Error(
          {"A spec file may hold " + std::to_string(kLargestSpecFile >> 20) + " MiB at most",
           "more", path, "Give the spec file, not the model file"});
  }
  if (stream.bad())
    throw Error({"The spec file can't be read", std::strerror(errno), path, "Check the disk"});
  return text;
}

}    // namespace mlip_dd
