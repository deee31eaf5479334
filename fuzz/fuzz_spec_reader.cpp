// Feeds arbitrary bytes to the readers of spec files. Anything but a value or an Error is a
// finding, and so is a value that changes when it is written and read again.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/error.h"
#include "spec/describe_spec.h"
#include "spec/operations.h"
#include "spec/spec_file.h"
#include "spec/wire.h"

namespace {

using namespace mlip_dd;

// A folder that does not exist: texts may name other files, and should find few.
const std::string kPath = "/nonexistent-folder-of-the-fuzzer/spec.json";

void require(bool holds)
{
  if (!holds) std::abort();
}

template <class Call>
auto unless_refused(Call call) -> std::optional<decltype(call())>
{
  try {
    return call();
  } catch (const Error &error) {
    require(!error.parts().cause.empty() && !error.parts().cure.empty());
    return std::nullopt;
  }
}

void read_wire(const std::string &text, Reading reading)
{
  std::vector<std::string> warnings;
  const auto spec = unless_refused([&] { return read_wire_text(text, kPath, reading, &warnings); });
  if (!spec) return;
  // What lenient reading leaves contradictory stays refused by strict reading.
  const auto again = unless_refused([&] { return read_wire_text(write_wire_text(*spec), kPath); });
  require(again || reading == Reading::Lenient);
  if (again) require(identical(*spec, *again) && write_wire_text(*again) == write_wire_text(*spec));
  unless_refused([&] { return merge(*spec, *spec, &warnings); });
}

void read_file(const std::string &text, Reading reading)
{
  const auto file = unless_refused([&] { return read_spec_text(text, kPath, reading); });
  if (!file) return;
  require(!describe_in_words(*file).empty());
  const std::string written = describe_as_json(*file)["file"].dump(-1, ' ', true);
  const auto again = unless_refused([&] { return read_spec_text(written, kPath); });
  require(again || reading == Reading::Lenient);
  if (again) require(again->model == file->model && identical(again->spec, file->spec));
}

}    // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
  const std::string text(reinterpret_cast<const char *>(data), size);
  for (Reading reading : {Reading::Strict, Reading::Lenient}) {
    read_wire(text, reading);
    read_file(text, reading);
  }
  return 0;
}
