#include "potentials/dftd3/d3_reference.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/quote.h"
#include "spec/elements.h"

namespace mlip_dd {

namespace {

constexpr const char *kFormat = "mlip-dd dftd3 reference 1";
constexpr const char *kMake =
    "Make one with `python -m mlip_dd d3-reference` (needs `pip install --no-deps torch-dftd`), or "
    "name yours in \"reference\"";

[[noreturn]] void refuse(const std::string &file, const std::string &cause,
                         const std::string &found = "")
{
  throw Error({cause, found, file, kMake});
}

nlohmann::json read_file(const std::string &file)
{
  std::ifstream stream(file);
  if (!stream)
    throw Error({"the file of DFT-D3 reference values can't be opened", "",
                 file + ", /model/parameters/reference", kMake});
  nlohmann::json tree = nlohmann::json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (!tree.is_object() || tree.value("format", nlohmann::json()) != kFormat)
    refuse(file, "this is no file of DFT-D3 reference values");
  return tree;
}

// Entry (i, j) of a lower triangle of any values.
const nlohmann::json &entry(const nlohmann::json &triangle, std::size_t i, std::size_t j)
{
  return triangle.at(std::max(i, j)).at(std::min(i, j));
}

// [references of i * of j], the file's matrices having the heavier element's references in rows.
std::vector<double> c6_of(const nlohmann::json &triangle, std::size_t i, std::size_t j,
                          std::size_t n_i, std::size_t n_j)
{
  const auto rows = entry(triangle, i, j).get<std::vector<std::vector<double>>>();
  std::vector<double> values;
  for (std::size_t a = 0; a < n_i; ++a)
    for (std::size_t b = 0; b < n_j; ++b)
      values.push_back(i >= j ? rows.at(a).at(b) : rows.at(b).at(a));
  return values;
}

std::vector<std::size_t> places_of(const nlohmann::json &tree, const std::string &file,
                                   const std::vector<std::string> &elements)
{
  const auto numbers = tree.at("elements").get<std::vector<int>>();
  std::vector<std::size_t> places;
  for (const std::string &element : elements) {
    const auto found = std::find(numbers.begin(), numbers.end(), atomic_number(element));
    if (found == numbers.end())
      throw Error(
          {"DFT-D3 has no reference values for an element of the model",
           in_quotes(element) + " (atomic number " + std::to_string(atomic_number(element)) + ")",
           file, "Take it out of /model/elements, or give a file that has it in \"reference\""});
    places.push_back(static_cast<std::size_t>(found - numbers.begin()));
  }
  return places;
}

D3Reference select(const nlohmann::json &tree, const std::vector<std::size_t> &places)
{
  D3Reference reference;
  reference.source = tree.at("source").get<std::string>();
  for (const std::size_t i : places) {
    reference.covalent_radius.push_back(tree.at("covalent_radii").at(i).get<double>());
    reference.r4r2.push_back(tree.at("r4r2").at(i).get<double>());
    reference.coordination.push_back(tree.at("coordination").at(i).get<std::vector<double>>());
  }
  for (std::size_t a = 0; a < places.size(); ++a)
    for (std::size_t b = 0; b < places.size(); ++b) {
      reference.c6.push_back(c6_of(tree.at("c6"), places[a], places[b],
                                   reference.coordination[a].size(),
                                   reference.coordination[b].size()));
      reference.cutoff_radius.push_back(
          entry(tree.at("cutoff_radii"), places[a], places[b]).get<double>());
    }
  return reference;
}

}    // namespace

std::string usual_d3_reference()
{
  const auto variable = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (const std::string file = variable("MLIP_DD_D3_REFERENCE"); !file.empty()) return file;
  const std::string data = variable("XDG_DATA_HOME");
  const std::filesystem::path folder =
      data.empty() ? std::filesystem::path(variable("HOME")) / ".local/share"
                   : std::filesystem::path(data);
  return (folder / "mlip-dd/dftd3-reference.json").string();
}

D3Reference read_d3_reference(const std::string &file, const std::vector<std::string> &elements)
{
  const std::string path = file.empty() ? usual_d3_reference() : file;
  const nlohmann::json tree = read_file(path);
  try {
    D3Reference reference = select(tree, places_of(tree, path, elements));
    for (const auto &coordination : reference.coordination)
      if (coordination.empty()) refuse(path, "an element of the model has no references");
    return reference;
  } catch (const nlohmann::json::exception &error) {
    refuse(path, "the file of DFT-D3 reference values is not complete", error.what());
  } catch (const std::out_of_range &) {
    refuse(path, "the file of DFT-D3 reference values is not complete", "a short C6 matrix");
  }
}

}    // namespace mlip_dd
