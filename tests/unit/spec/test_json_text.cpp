// If these fail, a broken or hostile file crashes the reader, hangs it, or is reported without the
// place to correct.
#include <limits>

#include "catch.h"
#include "golden.h"
#include "spec/json_text.h"
#include "spec/spec_file.h"

using namespace mlip_dd;
using namespace mlip_dd::test;

namespace {

std::string refusal(const std::string &text)
{
  return error_of([&] { parse_json_text(text, "f.json"); });
}

std::string repeated(const std::string &text, int times)
{
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

}    // namespace

TEST_CASE("syntax errors give line and column", "[json]")
{
  REQUIRE(contains(refusal("{\n  \"a\": 1,\n  \"b\" 2\n}"), "f.json, line 3, column 7"));
  REQUIRE(contains(refusal("x"), "line 1, column 1"));
  REQUIRE(contains(refusal("{\"a\": 1}\n\n  x"), "line 3, column 3"));
  REQUIRE(contains(refusal("[1,\n2"), "line 2"));
  REQUIRE(contains(refusal("\n\n[1e999]"), "line 3"));
  REQUIRE(contains(refusal("\n\n[1e999]"), "number overflow"));
  REQUIRE(contains(refusal("[\"\x01\"]"), "line 1, column 3"));
  REQUIRE(contains(refusal("[\"\xff\"]"), "not valid JSON"));
  REQUIRE(contains(refusal(""), "is empty"));
  REQUIRE(contains(refusal(" \n\t "), "is empty"));
  REQUIRE(contains(refusal("\xEF\xBB\xBF{}"), "byte-order mark"));
  REQUIRE(contains(refusal("{} // x"), "line 1, column 4"));
  REQUIRE(contains(refusal(std::string("[1\0]", 4)), "line 1, column 3"));
}

TEST_CASE("keys keep their order; of repeated ones the last value counts, at the first place",
          "[json]")
{
  std::vector<std::string> warnings;
  const auto tree =
      parse_json_text(R"({"b": 1, "a": {"x": 1}, "b": {"x": [2], "x": 3}})", "f.json", &warnings);
  REQUIRE(tree.dump() == R"({"b":{"x":3},"a":{"x":1}})");
  REQUIRE(warnings.size() == 2);
  REQUIRE(contains(warnings[0], "\"b\" stands twice"));
  REQUIRE(contains(warnings[1], "\"x\" stands twice"));
}

TEST_CASE("the tree equals the one of the library's own reader", "[json]")
{
  const std::string text =
      R"([null, true, -1, 18446744073709551615, -1.5e-3, "a\u0000\u00e9", {"a": [], "b": {}}, [[1], 2]])";
  REQUIRE(parse_json_text(text, "f.json") == nlohmann::ordered_json::parse(text));
}

TEST_CASE("nesting up to the limit is read, deeper is refused", "[json]")
{
  const auto nested = [](int depth) { return repeated("[", depth) + repeated("]", depth); };
  REQUIRE(refusal(nested(kDeepestNesting)) == "");
  REQUIRE(contains(refusal(nested(kDeepestNesting + 1)), "nested 64 deep at most"));
  REQUIRE(contains(refusal(repeated("[", 1000000)), "nested 64 deep at most"));
  REQUIRE(contains(refusal(repeated("{\"a\":", 1000000)), "nested 64 deep at most"));
}

TEST_CASE("large objects are read in linear time", "[json]")
{
  // Quadratic time would take minutes here, and the test's time limit is two.
  std::string text = "{\"a\": 0";
  for (int i = 0; i < 400000; ++i) text += ",\"k" + std::to_string(i) + "\":0";
  REQUIRE(parse_json_text(text + "}", "f.json").size() == 400001);
}

TEST_CASE("files that are no spec files are refused by path and cure", "[json]")
{
  TemporaryFolder folder;
  const std::string missing = folder.path() + "/none.json";
  REQUIRE(contains(error_of([&] { read_spec_file(missing); }), missing));
  REQUIRE(contains(error_of([&] { read_spec_file(missing); }), "does not exist"));
  REQUIRE(contains(error_of([&] { read_spec_file(folder.path()); }), "a folder, " + folder.path()));
  REQUIRE(contains(error_of([&] { read_spec_file("/dev/zero"); }), "no regular file, /dev/zero"));
  const std::string empty = folder.write("empty.json", "");
  REQUIRE(contains(error_of([&] { read_spec_file(empty); }), empty));
  REQUIRE(contains(error_of([&] { read_spec_file(empty); }), "is empty"));
  const std::string large = folder.write("model.pt", std::string(kLargestSpecFile + 1, ' '));
  REQUIRE(contains(error_of([&] { read_spec_file(large); }), "not the model file"));
  REQUIRE(contains(error_of([&] { read_spec_file(""); }), "does not exist"));
}
