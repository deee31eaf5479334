#include "element_map.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"

namespace mlip_dd {

namespace {

constexpr const char *kWhere = "pair_coeff";

std::string listed(const std::vector<std::string> &elements)
{
  std::string text;
  for (const std::string &element : elements) text += (text.empty() ? "" : " ") + element;
  return text;
}

}    // namespace

std::vector<std::int32_t> read_element_map(std::span<const char *const> arguments, int n_types,
                                           const std::vector<std::string> &elements)
{
  if (arguments.size() < 2 || std::string_view(arguments[0]) != "*" ||
      std::string_view(arguments[1]) != "*")
    throw Error({"pair_coeff of mlip/dd covers all types at once",
                 arguments.empty() ? "nothing" : arguments[0], kWhere,
                 "Write `pair_coeff * * ELEMENT1 ELEMENT2 ...`"});
  const auto names = arguments.subspan(2);
  if (static_cast<int>(names.size()) != n_types)
    throw Error({"pair_coeff needs one element name (or NULL) for each of the " +
                     std::to_string(n_types) + " atom types",
                 std::to_string(names.size()) + " names", kWhere,
                 "Write `pair_coeff * *` and then " + std::to_string(n_types) +
                     " names, in the order of types"});
  std::vector<std::int32_t> map(static_cast<std::size_t>(n_types) + 1, -1);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string_view name = names[k];
    if (name == "NULL") continue;
    const auto found = std::find(elements.begin(), elements.end(), name);
    if (found == elements.end())
      throw Error({"the model does not know the element", std::string(name),
                   std::string(kWhere) + ", atom type " + std::to_string(k + 1),
                   "The model knows: " + listed(elements) + ". NULL leaves a type out"});
    map[k + 1] = static_cast<std::int32_t>(found - elements.begin());
  }
  return map;
}

}    // namespace mlip_dd
