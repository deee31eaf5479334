// The file that a user gives: a version-2 spec, or the name of one, with the model or the pipeline
// of models that it distributes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/json_place.h"
#include "spec/mlip_spec.h"
#include "spec/model_spec.h"
#include "spec/pipeline_spec.h"

namespace mlip_dd {

struct SpecFile {
  std::string path;
  MLIPSpec spec;                     // of `model`; the default one beside a pipeline
  std::optional<ModelSpec> model;    // at most one of model and pipeline
  std::optional<PipelineSpec> pipeline;
  std::vector<std::string> warnings;    // whole sentences; not fatal, worth showing
};

// Reads and checks a spec file without opening model files. Not collective: every rank that calls
// it reads the file. Throws Error, which names file, JSON pointer, value, legal values and cure.
SpecFile read_spec_file(const std::string &path, Reading reading = Reading::Strict);

// The same from a text. Paths in it are relative to the folder of `path`, which need not exist.
SpecFile read_spec_text(const std::string &text,
                        const std::string &path_for_messages_and_relative_paths,
                        Reading reading = Reading::Strict);

// The spec file as JSON that reads back to the same values: version-2 keys, then `model` or
// `pipeline`, with paths absolute and family defaults filled in.
nlohmann::ordered_json to_json(const SpecFile &file);

}    // namespace mlip_dd
