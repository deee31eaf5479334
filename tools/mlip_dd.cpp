// The command mlip-dd: shows, checks and merges spec files, and prints the presets.
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/quote.h"
#include "spec/describe_spec.h"
#include "spec/operations.h"
#include "spec/presets.h"
#include "spec/schema.h"
#include "spec/spec_file.h"
#include "spec/wire.h"

namespace {

using namespace mlip_dd;

constexpr int kRefused = 1;    // exit status when a spec file is refused

// A preset by its name, or a file.
SpecFile open_spec(const std::string &name, Reading reading)
{
  if (const auto preset = find_preset(name)) return {name, *preset, {}, {}, {}};
  return read_spec_file(name, reading);
}

void inspect(const std::vector<std::string> &names, Reading reading, bool as_json)
{
  if (!as_json) {
    for (const std::string &name : names) std::cout << describe_in_words(open_spec(name, reading));
    return;
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string &name : names) all.push_back(describe_as_json(open_spec(name, reading)));
  std::cout << (names.size() == 1 ? all.front() : all).dump(2, ' ', true) << "\n";
}

// Reads every file, whatever the others say; the messages name them.
int check(const std::vector<std::string> &names, Reading reading)
{
  int status = 0;
  for (const std::string &name : names) {
    try {
      for (const std::string &warning : open_spec(name, reading).warnings)
        std::cerr << "warning: " << warning << "\n";
      std::cout << name << ": ok\n";
    } catch (const Error &error) {
      std::cerr << "error: " << error.what() << "\n";
      std::cout << name << ": refused\n";
      status = kRefused;
    }
  }
  return status;
}

// The merged policy goes to standard output in canonical form.
void merge_files(const std::vector<std::string> &names, Reading reading)
{
  std::vector<std::string> warnings;
  MLIPSpec merged;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const SpecFile file = open_spec(names[i], reading);
    if (file.pipeline || file.model)
      throw Error({"Only policies can be merged", file.pipeline ? "a pipeline" : "a model",
                   names[i], "Combine models in a pipeline file, where each keeps its policy"});
    warnings.insert(warnings.end(), file.warnings.begin(), file.warnings.end());
    merged = i == 0 ? file.spec : merge(merged, file.spec, &warnings);
  }
  for (const std::string &warning : warnings) std::cerr << "warning: " << warning << "\n";
  std::cout << write_wire_text(merged) << "\n";
}

void print_presets(const std::string &name)
{
  if (name.empty()) {
    for (const Preset &preset : presets())
      std::printf("%-18s %s\n", std::string(preset.name).c_str(),
                  std::string(preset.purpose).c_str());
    return;
  }
  const auto preset = find_preset(name);
  if (!preset)
    throw Error({"There is no such preset", in_quotes(name), "",
                 did_you_mean(name, preset_names()) + "Presets: " + list_names(preset_names())});
  std::cout << write_wire_text(*preset) << "\n";
}

int run(int argc, char **argv)
{
  CLI::App app{"Shows, checks and merges the spec files of pair_style mlip/dd."};
  app.require_subcommand(1);
  std::vector<std::string> names;
  std::string preset;
  bool as_json = false, lenient = false;
  const auto add_names = [&](CLI::App *command, int least) {
    command->add_option("spec", names, "spec files or presets")->required()->expected(least, -1);
    command->add_flag("--lenient", lenient, "warn where a file of others has no meaning here");
  };
  CLI::App *inspect_command = app.add_subcommand("inspect", "say in words what a spec means");
  add_names(inspect_command, 1);
  inspect_command->add_flag("--json", as_json, "as JSON, for machines");
  CLI::App *check_command = app.add_subcommand(
      "check", "read spec files, show what is wrong; status 1 if any is refused");
  add_names(check_command, 1);
  CLI::App *merge_command = app.add_subcommand("merge", "print one policy for several models");
  add_names(merge_command, 2);
  CLI::App *presets_command = app.add_subcommand("presets", "list the presets, or print one");
  presets_command->add_option("name", preset, "the preset to print as a spec file");
  CLI::App *schema_command =
      app.add_subcommand("schema", "print the JSON Schema of spec files, for editors");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error);
  }
  const Reading reading = lenient ? Reading::Lenient : Reading::Strict;
  if (*check_command) return check(names, reading);
  if (*inspect_command) inspect(names, reading, as_json);
  if (*merge_command) merge_files(names, reading);
  if (*schema_command) std::cout << spec_schema().dump(2, ' ', true) << "\n";
  if (*presets_command) print_presets(preset);
  return 0;
}

}    // namespace

int main(int argc, char **argv)
{
  try {
    return run(argc, argv);
  } catch (const std::exception &error) {
    std::cerr << "error: " << error.what() << "\n";
    return kRefused;
  }
}
