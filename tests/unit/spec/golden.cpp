#include "golden.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/error.h"
#include "spec/wire.h"

namespace mlip_dd::test {

std::string source_file(const std::string &relative)
{
  const std::string path = std::string(MLIP_DD_SOURCE_DIR) + "/" + relative;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("no test data at " + path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

nlohmann::ordered_json golden(const std::string &name)
{
  return nlohmann::ordered_json::parse(source_file("tests/golden/specs/" + name));
}

MLIPSpec spec_of(const nlohmann::ordered_json &value, Reading reading,
                 std::vector<std::string> *warnings)
{
  return read_wire_text(value.dump(), "golden", reading, warnings);
}

std::string error_of(const std::function<void()> &call)
{
  try {
    call();
  } catch (const Error &error) {
    return error.what();
  }
  return {};
}

bool contains(const std::string &text, const std::string &part)
{
  return text.find(part) != std::string::npos;
}

TemporaryFolder::TemporaryFolder()
{
  std::string pattern = (std::filesystem::temp_directory_path() / "mlip_dd_specXXXXXX").string();
  if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder()
{
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::string TemporaryFolder::write(const std::string &name, const std::string &text) const
{
  const std::filesystem::path path = std::filesystem::path(path_) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

}    // namespace mlip_dd::test
