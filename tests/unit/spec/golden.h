// Golden data and small helpers of the spec tests.
#pragma once

#include <nlohmann/json.hpp>

#include <functional>
#include <string>

#include "spec/json_place.h"
#include "spec/mlip_spec.h"

namespace mlip_dd::test {

// Bytes of a file under the source tree.
std::string source_file(const std::string &relative);

// A file of tests/golden/specs, parsed; keys keep their order.
nlohmann::ordered_json golden(const std::string &name);

// The spec of a golden value.
MLIPSpec spec_of(const nlohmann::ordered_json &value, Reading reading = Reading::Strict,
                 std::vector<std::string> *warnings = nullptr);

// The message of the Error that the call throws; "" when it throws none. Other exceptions pass.
std::string error_of(const std::function<void()> &call);

bool contains(const std::string &text, const std::string &part);

// A folder of its own that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  std::string write(const std::string &name, const std::string &text) const;    // returns the path
  const std::string &path() const { return path_; }

 private:
  std::string path_;
};

}    // namespace mlip_dd::test
