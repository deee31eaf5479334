#include "spec/spec_file.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "spec/json_text.h"
#include "spec/model_read.h"
#include "spec/pipeline_read.h"
#include "spec/presets.h"
#include "spec/spec_source.h"
#include "spec/wire.h"

namespace mlip_dd {

namespace {

constexpr std::array<std::string_view, 4> kOurKeys{"spec", "model", "pipeline", kSchemaKey};

SpecFile read_tree(const nlohmann::ordered_json &tree, const ReadContext &context)
{
  const JsonPlace top(tree, "", context);
  top.expect_object("A spec file");
  SpecFile file;
  file.path = context.path;
  if (const auto pipeline = top.find("pipeline")) {
    constexpr std::array<std::string_view, 2> pipeline_keys{"pipeline", kSchemaKey};
    if (top.has("model"))
      top.at("model").refuse("A file has either a model or a pipeline",
                             "Move the model into the pipeline's \"models\"");
    if (top.has("spec"))
      top.at("spec").refuse("Each model of a pipeline has a spec of its own",
                            "Move this one into the pipeline's \"models\"");
    top.expect_keys(pipeline_keys);
    file.pipeline = read_pipeline(*pipeline);
    return file;
  }
  file.spec = read_policy_source(top, kOurKeys);
  if (const auto model = top.find("model")) file.model = read_model(*model);
  return file;
}

std::filesystem::path folder_of(const std::string &path)
{
  return std::filesystem::path(path).parent_path();
}

}    // namespace

SpecFile read_spec_text(const std::string &text, const std::string &path, Reading reading)
{
  std::vector<std::string> warnings;
  const nlohmann::ordered_json tree = parse_json_text(text, path, &warnings);
  const ReadContext context{path, folder_of(path), reading, &warnings, {file_identity(path)}};
  SpecFile file = read_tree(tree, context);
  file.warnings = std::move(warnings);
  return file;
}

SpecFile read_spec_file(const std::string &path, Reading reading)
{
  return read_spec_text(read_text_file(path), path, reading);
}

nlohmann::ordered_json to_json(const SpecFile &file)
{
  if (file.pipeline) return {{"pipeline", to_json(*file.pipeline)}};
  nlohmann::ordered_json object = to_wire(file.spec);
  if (file.model) object["model"] = to_json(*file.model);
  return object;
}

}    // namespace mlip_dd
